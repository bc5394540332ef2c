"""Runs a test by the Python of a virtual environment. Usage: with_python.py ENVIRONMENT TEST. Exit code 77: there is none."""

import pathlib
import subprocess
import sys

environment, test = map(pathlib.Path, sys.argv[1:])
python = environment / "bin" / "python"
if not python.exists():
    makers = {"triton": "tools/triton-venvs.sh makes it", "torch": "pip install torch into a new one"}
    print(f"no {environment}: {makers.get(environment.name.split('-')[0], 'tools/python-venv.sh makes it')}")
    sys.exit(77)
sys.exit(subprocess.run([str(python), "-B", "-W", "ignore", str(test)], check=False).returncode)
