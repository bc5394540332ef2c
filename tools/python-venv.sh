#!/usr/bin/env bash
# Makes the Python environment of the package's tests, build/python-tools, by pip: Dask's scheduler, mypy, and tools that build wheels. An existing
# environment is kept. If pip cannot install it, a line says so, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=build/python-tools
if [[ ! -e $folder/complete ]]; then
  echo "== Dask, mypy and scikit-build-core, for the tests of the Python package"
  rm -rf "$folder"
  mkdir -p build
  if python3 -m venv "$folder" && "$folder/bin/pip" --quiet install distributed mypy "scikit-build-core>=0.10" ninja; then
    touch "$folder/complete"
  else
    rm -rf "$folder"
    echo "no Python environment: the tests that need it are skipped"
  fi
fi
