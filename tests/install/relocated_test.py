#!/usr/bin/env python3
"""Uses an installed twill away from its source tree: relocated_test.py PREFIX SOURCE_TREE

Protects: the installed program carries its machines and runtime headers. It is copied alone into an empty folder, where it must
know the machines and print a kernel with the headers of the source tree. Only the places of internal errors in it may name the
source tree, so it cannot read files there.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PREFIX, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def run(folder, *words, **variables):
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run([str(folder / "twill"), *words], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main():
    wrong = []
    program = (PREFIX / "bin" / "twill").read_bytes()
    for text in re.findall(re.escape(str(SOURCE).encode()) + rb"[ -~]*", program):
        if not re.search(rb"\.(h|cpp)$", text):
            wrong.append(f"the program names {text.decode()}")
    if (PREFIX / "share" / "twill").exists():
        wrong.append("there are files beside the program")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        shutil.copy(PREFIX / "bin" / "twill", folder)
        shutil.copy(SOURCE / "kernels/gemm/sm_90/tma_128x128x64.pre.ttgir", folder / "gemm.ttgir")
        code, out, _ = run(folder, "machines")
        if code != 0 or not all(path.stem in out for path in (SOURCE / "machines").glob("*.json")):
            wrong.append(f"machines: exit {code}: {out}")
        code, out, err = run(folder, "emit", "cuda", "gemm.ttgir", "--machine", "h200", "--no-compile", "-o", "gemm")
        headers = list((folder / "gemm/runtime").glob("*.cuh"))
        if code != 0 or not headers:
            wrong.append(f"emit cuda: exit {code}: {out}{err}")
        wrong += [f"{it.name} differs" for it in headers if it.read_bytes() != (SOURCE / "runtime" / it.name).read_bytes()]
        own = folder / "own" / "machines"
        own.mkdir(parents=True)
        (own / "mine.json").write_text((SOURCE / "machines/h200.json").read_text())
        code, out, err = run(folder, "schedule", "gemm.ttgir", "--machine", "mine", TWILL_DATA_DIR=str(own.parent))
        if code != 0:
            wrong.append(f"a machine of TWILL_DATA_DIR: exit {code}: {err}")
        code, _, err = run(folder, "machines", TWILL_DATA_DIR=str(folder / "none"))
        if code != 3 or "TWILL_DATA_DIR" not in err:
            wrong.append(f"a TWILL_DATA_DIR that is none: exit {code}: {err}")
    print("\n".join(wrong) or "ok")
    return 1 if wrong else 0


sys.exit(main())
