"""From a wheel to a faster kernel, as a new user goes: an empty environment, no root, no CUDA toolkit, and a script without Twill.

The environment sees the PyTorch and Triton of this Python (there may be no network); all other parts come from the wheel.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SCRIPT = pathlib.Path(__file__).parent / "from_nothing_script.py"
LONGEST_S = 120.0
STRANGER = 65534  # the number of `nobody` on Linux, a user without rights


def show_packages(environment):
    """Makes an environment see the PyTorch and Triton of this Python, which may itself be in an environment."""
    places = {str(pathlib.Path(importlib.util.find_spec(name).origin).parents[1]) for name in ("torch", "triton")}
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "torch.pth").write_text("".join(f"{place}\n" for place in sorted(places)))


def from_nothing(wheel):
    """Seconds until the faster launch, milliseconds of a launch plain and with TWILL=1, and the findings on the way."""
    begin = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="twill-stranger-"))
    shutil.copy(wheel, folder)
    shutil.copy(SCRIPT, folder)
    shutil.copy(SCRIPT.parent.parent.parent / "kernels" / "fa_fwd" / "fa_fwd.py", folder)
    shutil.copy(SCRIPT.parent.parent.parent / "kernels" / "common.py", folder)
    folder.chmod(0o777)
    user = STRANGER if os.getuid() == 0 else None
    kept = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")}
    clean = {**kept, "HOME": str(folder), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}  # no folder with a toolkit

    def run(*command, **more):
        done = subprocess.run(command, cwd=folder, env={**clean, **more}, user=user, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return done.stdout

    run(sys.executable, "-m", "venv", "env")
    show_packages(folder / "env")
    python = str(folder / "env" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(folder / wheel.name))
    installed = time.monotonic() - begin
    plain = json.loads(run(python, SCRIPT.name))
    twill = json.loads(run(python, SCRIPT.name, TWILL="1"))
    return {"seconds": time.monotonic() - begin, "installed_s": installed, "plain_ms": plain["ms"], "twill_ms": twill["ms"],
            "ratio": plain["ms"] / twill["ms"], "same": plain["sum"] == twill["sum"], "nvcc": shutil.which("nvcc", path=clean["PATH"]),
            "user": user if user is not None else os.getuid()}


def complaints(found):
    """A line for each bar that is missed."""
    if found["seconds"] > LONGEST_S:
        yield f"from nothing to a faster kernel: {found['seconds']:.0f} s, {LONGEST_S:.0f} s are the bar"
    if found["ratio"] < 1.15:
        yield f"from nothing: {found['ratio']:.2f} times plain Triton's speed, 1.15 is the bar"
    if not found["same"]:
        yield "from nothing: the result differs from plain Triton's"
    if found["nvcc"] or found["user"] == 0:
        yield f"from nothing: there is a toolkit ({found['nvcc']}) or root ({found['user']}), so nothing is shown"
