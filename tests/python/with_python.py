"""Runs a test by the Python of a virtual environment. Usage: with_python.py ENVIRONMENT TEST. Exit code 77: no such environment.

With a folder in the variable KEPT_PTXAS, the ptxas of the environment's Triton compiles each text only once a day (kept_ptxas). A ptxas that the
developer names in TRITON_PTXAS_PATH is called every time instead.
"""

import os
import pathlib
import subprocess
import sys
import time

A_DAY = 24 * 3600


def keeping_ptxas(environment):
    """Variables by which Triton calls kept_ptxas; none if TRITON_PTXAS_PATH is set. Removes files older than a day."""
    real = next(environment.glob("lib/python3*/site-packages/triton/backends/nvidia/bin/ptxas"), None)
    folder = os.environ.get("KEPT_PTXAS")
    if real is None or folder is None or "TRITON_PTXAS_PATH" in os.environ:  # a ptxas of the developer's stays
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
