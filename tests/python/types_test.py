"""Checks the package's types by mypy, strict."""

import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "python"
sys.exit(subprocess.run([sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", "/dev/null"], cwd=PACKAGE,
                        check=False).returncode)
