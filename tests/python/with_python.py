"""Runs a test by the Python of a virtual environment. Usage: with_python.py ENVIRONMENT TEST. Exit code 77: there is none."""

import pathlib
import subprocess
import sys

environment, test = map(pathlib.Path, sys.argv[1:])
python = environment / "bin" / "python"
if not python.exists():
    print(f"no {environment}: tools/{'triton-venvs' if environment.name.startswith('triton') else 'python-venv'}.sh makes it")
    sys.exit(77)
sys.exit(subprocess.run([str(python), "-B", "-W", "ignore", str(test)], check=False).returncode)
