#!/usr/bin/env python3
"""Runs the RUN lines of a golden test. Usage: run_golden.py --twill PROGRAM --filecheck PROGRAM TEST

A test is a text with lines `# RUN: COMMAND`, each a line of bash (with pipefail) that must succeed, run in the root of
the source tree. In it, `twill` is the program under test, `filecheck` is FileCheck with the test itself as its checks
(arguments go on to it), `exits N COMMAND...` succeeds if COMMAND exits with N, and $T is an empty folder of the test's
own. `# INPUT FILE` starts a block that is written to $T/FILE; it lasts to the next `# END`.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

PRELUDE = """set -o pipefail
twill() { %(twill)s "$@"; }
filecheck() { %(filecheck)s "$@" %(test)s; }
exits() {
  local wanted=$1 got; shift; "$@"; got=$?
  if [ $got != $wanted ]; then echo "exit code $got, not $wanted: $*" >&2; return 1; fi
}
T=%(folder)s
"""


def write_inputs(text, folder):
    for name, body in re.findall(r"^# INPUT (\S+)\n(.*?)^# END$", text, re.MULTILINE | re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(body)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--twill", required=True)
    parser.add_argument("--filecheck", required=True)
    parser.add_argument("test", type=pathlib.Path)
    arguments = parser.parse_args()
    text = arguments.test.read_text()
    commands = re.findall(r"^# RUN: (.*)$", text, re.MULTILINE)
    if not commands:
        sys.exit(f"{arguments.test}: no RUN line")
    with tempfile.TemporaryDirectory() as name:
        write_inputs(text, pathlib.Path(name))
        prelude = PRELUDE % {
            "twill": shlex.quote(arguments.twill),
            "filecheck": shlex.quote(arguments.filecheck),
            "test": shlex.quote(str(arguments.test)),
            "folder": shlex.quote(name),
        }
        for command in commands:
            done = subprocess.run(["bash", "-c", prelude + command], cwd=ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{arguments.test}: failed: {command}\n{done.stdout}{done.stderr}")


main()
