#!/usr/bin/env python3
"""What a user sees while `twill run` works: progress_test.py TWILL

Protects: a terminal shows that the kernel is compiled and run, on a line that is gone at the end, and what is no terminal shows nothing
of it. A folder's name may hold quotes and backslashes. A kernel of which every row lies outside has nothing to compare, and is no alarm.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

KERNEL = pathlib.Path(__file__).resolve().parent / "few_rows.ttgir"


def on_terminal(command):
    """Standard error of a command, as a terminal gets it."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # closed at the other end
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return process.wait(), seen.decode()


def main():
    twill, wrong = sys.argv[1], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = scratch + '/ro"w\\s'
        subprocess.run([twill, "emit", "cuda", str(KERNEL), "--machine", "h200", "--no-compile", "-o", folder], check=True, capture_output=True)
        command = [twill, "run", folder, "--trips", "1", "--seeds", "8"]
        code, seen = on_terminal(command)
        if code != 0 or "compiles and runs the kernel" not in seen:
            wrong.append(f"no progress on a terminal: {code}, {seen!r}")
        if not seen.endswith("\r\033[K"):
            wrong.append(f"the line of progress stays: {seen!r}")
        plain = subprocess.run(command, capture_output=True, text=True)
        if plain.returncode != 0 or plain.stderr:
            wrong.append(f"not silent without a terminal: {plain.returncode}, {plain.stderr!r}")
        none = subprocess.run([twill, "run", folder, "--trips", "0,2", "--arg", "M=0"], capture_output=True, text=True)
        if none.returncode == 6 or "differ" in none.stdout:
            wrong.append(f"no rows are an alarm: {none.returncode}, {none.stdout}{none.stderr}")
    for what in wrong:
        print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
