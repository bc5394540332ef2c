#!/usr/bin/env bash
# Makes Python environments by pip, build/triton-VERSION, with the Tritons that compile printed TTGIR and under which the drop-in runs. Existing
# environments are kept. If pip cannot install a version, a line says so, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for version in 3.6.0 3.7.0 3.8.0 3.9.0; do
  folder="build/triton-$version"
  if "$folder/bin/python" -c 'import triton' 2>/dev/null; then continue; fi
  echo "== Triton $version, for the tests of printed TTGIR"
  rm -rf "$folder"
  mkdir -p build
  if ! { python3 -m venv "$folder" && "$folder/bin/pip" --quiet install "triton==$version" numpy setuptools; }; then
    rm -rf "$folder"
    echo "no Triton $version: tests of TTGIR printed for it are skipped"
  fi
done
