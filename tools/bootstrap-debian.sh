#!/usr/bin/env bash
# Installs the packages that Twill needs on Debian 12 or Ubuntu 24.04, except those that are installed already. With everything
# in place it touches neither the network nor the system.
#
#   tools/bootstrap-debian.sh build    packages for the program and the library
#   tools/bootstrap-debian.sh test     also packages for the tests
set -euo pipefail

build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libexpected-dev libcli11-dev)
test_packages=(ccache libgtest-dev librapidcheck-dev libz3-dev z3 cadical python3)

say() { printf '== %s\n' "$*"; }
die() { printf 'bootstrap-debian.sh: %s\n' "$*" >&2; exit 1; }

is_installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

has_filecheck() {
  local name
  for name in FileCheck FileCheck-{14..19}; do
    command -v "$name" >/dev/null && return 0
  done
  return 1
}

# FileCheck comes with LLVM's tools, whose package carries the release's LLVM version.
filecheck_package() {
  case "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" in
    bookworm) echo llvm-14-tools ;;
    noble) echo llvm-18-tools ;;
    *) die "only Debian 12 and Ubuntu 24.04 are known here: install LLVM's FileCheck by hand" ;;
  esac
}

case "${1:-}" in
  build) packages=("${build_packages[@]}") ;;
  test)
    packages=("${build_packages[@]}" "${test_packages[@]}")
    has_filecheck || packages+=("$(filecheck_package)")
    ;;
  *) die "usage: tools/bootstrap-debian.sh build|test" ;;
esac
command -v dpkg-query >/dev/null || die "not a Debian system; needed are the equivalents of: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  say "All ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || die "run as root, or install sudo, to get: ${missing[*]}"
  as_root=(sudo)
fi
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -q "$@" </dev/null
}
say "Installing ${missing[*]}"
apt_get update
apt_get install -y --no-install-recommends "${missing[@]}"
for package in "${missing[@]}"; do
  is_installed "$package" || die "apt-get did not install $package"
done
say "Installed"
