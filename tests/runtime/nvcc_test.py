#!/usr/bin/env python3
"""Compiles CUDA files that include the runtime, and looks at what ptxas reports.

    nvcc_test.py ROOT FILE...

Fails if a file does not compile, if any function spills registers or keeps anything in local
memory, or if ptxas warns of anything (C7510 and its like say that it serializes wgmma). Exits with
77, which ctest reports as skipped, where there is no nvcc.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def find_nvcc():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    beside = [os.path.join(home, "bin", "nvcc") for home in homes if home]
    return shutil.which("nvcc") or next((n for n in beside if os.access(n, os.X_OK)), None)


def complaints(report):
    """The faults in a report of ptxas -v; empty for a good kernel."""
    wrong = [line for line in report.splitlines() if re.search(r"\b(warning|error|C7\d\d\d)\b", line)]
    functions = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report)
    if not functions:
        wrong.append("the report names no function")
    for stack, stores, loads in functions:
        if (stack, stores, loads) != ("0", "0", "0"):
            wrong.append(f"{stack} bytes stack, {stores} + {loads} bytes spilled")
    return wrong


def compile_one(nvcc, root, source, folder):
    command = [nvcc, "-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-I", root,
               "-Xptxas", "-v", "--cubin", "-o", os.path.join(folder, "out.cubin"), source]
    done = subprocess.run(command, capture_output=True, text=True)
    report = done.stdout + done.stderr
    if done.returncode != 0:
        return [f"nvcc fails:\n{report}"]
    return complaints(report)


def main(root, sources):
    nvcc = find_nvcc()
    if nvcc is None:
        print("skipped: no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda")
        return SKIPPED
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            wrong = compile_one(nvcc, root, source, folder)
            failed = failed or bool(wrong)
            print(f"{os.path.basename(source)}: " + ("\n".join(wrong) if wrong else "ok"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
