#!/usr/bin/env python3
"""Prints kernels of many kinds as TTGIR and runs them: ttgir_kinds_test.py TWILL PRINTER FOLDER

Protects: what users write around and in the main loop (prints, branches, stores under a condition, early ends, products behind
it) is printed, and leaves in memory what the kernel's own text does, under many orders of the roles. PRINTER prints them, and FOLDER keeps what is printed (printed.py).
"""
import re
import subprocess
import sys
import tempfile

import ttgir_kinds
from printed import printed


def version_of(path):
    """A Triton that spells descriptors like the kernel: the default of `emit ttgir`."""
    return "3.9" if re.search(r"tensordesc<\d", path.read_text()) else "3.6"


def complaint(twill, printer, name, path, kept):
    out = str(path) + ".printed.ttgir"
    said = printed(printer, path, version_of(path), out, kept)
    if name in ttgir_kinds.REFUSED:
        return "" if ttgir_kinds.REFUSED[name] in said else f"not refused as it should be: {said}"
    if said:
        return f"not printed: {said}"
    done = subprocess.run([twill, "run", out, "--against", str(path)], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"run ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


def main():
    twill, printer, kept = sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in ttgir_kinds.write(folder).items():
            what = complaint(twill, printer, name, path, kept)
            wrong += what != ""
            print(f"{name}: {what or 'right'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
