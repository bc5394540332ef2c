"""What the scripts of this folder share: the bundled kernels, tables, and their places in bench/README.md."""

import datetime
import pathlib
import platform
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = {"sm_90": "h200", "sm_100": "b200"}


def kernels():
    """(path, machine) of every bundled kernel as Triton hands it to its scheduler."""
    for path in sorted((ROOT / "kernels").rglob("*.pre.ttgir")):
        yield path.relative_to(ROOT), next(MACHINES[part] for part in path.parts if part in MACHINES)


def program_of(path):
    """The program to measure; ends the script if it is not there."""
    program = path.resolve()
    if not program.exists():
        sys.exit(f"there is no {program}; build the preset `release` first")
    return program


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
