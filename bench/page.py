"""Functions that the scripts of this folder share: the bundled kernels, runs, random numbers, tables, and their places in bench/README.md."""

import datetime
import os
import pathlib
import platform
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS_MAX = 120
MACHINES = {"sm_90": "h200", "sm_100": "b200"}


def kernels():
    """(path, machine) of every bundled kernel, as Triton passes it to its scheduler."""
    for path in sorted((ROOT / "kernels").rglob("*.pre.ttgir")):
        yield path.relative_to(ROOT), next(MACHINES[part] for part in path.parts if part in MACHINES)


def program_of(path):
    """The program to measure; ends the script if the program is missing."""
    program = path.resolve()
    if not program.exists():
        sys.exit(f"there is no {program}; build the preset `release` first")
    return program


class Generator:
    """Numbers of a linear congruential generator (Knuth's MMIX); only the high bits are used."""

    def __init__(self, seed):
        self.state = seed
        for _ in range(8):
            self.below(1)

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


def measure(command):
    """(exit code, output, seconds, megabytes) of one run, which is ended after SECONDS_MAX. Seconds are processor time.

    The system also counts the memory from before the program replaced this script: the least seen is about 15 MB.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
    alarm = threading.Timer(SECONDS_MAX, process.kill)
    alarm.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def table(columns, rows, words=1):
    """A table of Markdown; the first `words` columns hold words, the others numbers."""
    lines = [columns, ["---"] * words + ["---:"] * (len(columns) - words)]
    lines += [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |\n" for line in lines)


def processor():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} cores"


def write(script, text, how="one core used"):
    """Puts the text into bench/README.md, between the marks of the script, below the date and the processor."""
    readme = ROOT / "bench" / "README.md"
    old = readme.read_text()
    begin, end = f"<!-- written by {script} -->\n", f"<!-- end of {script} -->"
    head, tail = old[:old.index(begin) + len(begin)], old[old.index(end):]
    readme.write_text(f"{head}\n{datetime.date.today()}, {processor()}; {how}.\n\n{text}\n{tail}")
