"""Runs a test by the Python of a virtual environment. Usage: with_python.py ENVIRONMENT TEST. Exit code 77: there is none.

With a folder in the variable KEPT_PTXAS, the ptxas of the environment's Triton makes machine code of a text once a day (kept_ptxas).
"""

import os
import pathlib
import subprocess
import sys
import time

A_DAY = 24 * 3600


def keeping_ptxas(environment):
    """The variables that have Triton call kept_ptxas. What is older than a day is thrown away."""
    real = next(environment.glob("lib/python3*/site-packages/triton/backends/nvidia/bin/ptxas"), None)
    folder = os.environ.get("KEPT_PTXAS")
    if real is None or folder is None:
        return {}
    for kept in pathlib.Path(folder).glob("*"):
        try:
            if kept.stat().st_mtime < time.time() - A_DAY:
                kept.unlink()
        except FileNotFoundError:  # another test was faster
            pass
    return {"TRITON_PTXAS_PATH": str(pathlib.Path(__file__).with_name("kept_ptxas")), "REAL_PTXAS": str(real)}


environment, test = map(pathlib.Path, sys.argv[1:])
python = environment / "bin" / "python"
if not python.exists():
    makers = {"triton": "tools/triton-venvs.sh makes it", "torch": "pip install torch into a new one"}
    print(f"no {environment}: {makers.get(environment.name.split('-')[0], 'tools/python-venv.sh makes it')}")
    sys.exit(77)
sys.exit(subprocess.run([str(python), "-B", "-W", "ignore", str(test)], env=os.environ | keeping_ptxas(environment), check=False).returncode)
