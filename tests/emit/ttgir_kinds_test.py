#!/usr/bin/env python3
"""Prints kernels of many kinds as TTGIR and runs them: ttgir_kinds_test.py TWILL

Protects: what users write around and in the main loop (prints, branches, stores under a condition, early ends, products behind
it) is printed, and leaves in memory what the kernel's own text does, under many orders of the roles.
"""
import subprocess
import sys
import tempfile

import ttgir_kinds


def complaint(twill, name, path):
    out = str(path) + ".printed.ttgir"
    done = subprocess.run([twill, "emit", "ttgir", str(path), "-o", out], capture_output=True, text=True)
    if name in ttgir_kinds.REFUSED:
        return "" if done.returncode == 3 and ttgir_kinds.REFUSED[name] in done.stderr else f"not refused as it should be: {done.stderr}"
    if done.returncode != 0:
        return f"emit ttgir ended with {done.returncode}: {done.stderr}"
    done = subprocess.run([twill, "run", out, "--against", str(path)], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"run ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in ttgir_kinds.write(folder).items():
            what = complaint(sys.argv[1], name, path)
            wrong += what != ""
            print(f"{name}: {what or 'right'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
