#!/usr/bin/env python3
"""GEMM tiles of kernels/tasks/gemm.task: each is scheduled to a proven optimum, or proven to have no schedule.

Rows 64 to 256 by 64 (a warp group has 64), columns 8 to 256 by 8. With --sample only some (samples.py); with --emit each scheduled
tile is printed as CUDA C++ too. Prints a table for docs, with what is scheduled and has no plan or is not printed, and ends with 1 if a tile is undecided.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import samples  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TASK = "kernels/tasks/gemm.task"
SCHEDULED, NEVER, NO_PLAN = 0, 4, 7


def twill(program, *words):
    return subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True)


def answer(program, mapping, emit):
    """(what came of a tile, its words)"""
    ran = twill(program, "schedule", TASK, "--map", mapping, "--json")
    text = ran.stderr
    said = json.loads(ran.stdout) if ran.stdout else {}
    if ran.returncode == NEVER and said.get("verdict") == "infeasible":
        return "proven not to fit", text
    if ran.returncode == NO_PLAN:
        return "scheduled, no plan", text
    optimal = any(it["chosen"] and it["verdict"] == "optimal" for it in said.get("candidates", []))
    if ran.returncode != SCHEDULED or not optimal:
        return "undecided", text
    if not emit:
        return "scheduled, proven optimal", text
    printed = twill(program, "emit", "cuda", TASK, "--map", mapping, "--no-compile")
    if printed.returncode == 0:
        return "printed", text
    return "scheduled, not printed", printed.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--sample", type=int, help="so many tiles of the 128")
    parser.add_argument("--emit", action="store_true")
    given = parser.parse_args()
    tiles = [(rows, columns) for rows in range(64, 257, 64) for columns in range(8, 257, 8)]
    if given.sample:
        tiles = sorted(random.Random(samples.seed()).sample(tiles, given.sample))
    counts, odd, never = Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        mapping = str(Path(folder) / "tile.map")
        for rows, columns in tiles:
            Path(mapping).write_text(f"map tile for gemm on h200 {{ U = {rows}  V = {columns}  W = 64 }}\n")
            what, text = answer(given.program, mapping, given.emit)
            counts[what] += 1
            if what == "proven not to fit":
                never.append(f"{rows} x {columns}")
            if what not in ("proven not to fit", "scheduled, proven optimal", "printed"):
                odd.append(f"{rows} x {columns}: {what}: {text.strip().splitlines()[-1] if text.strip() else ''}")
    print(f"{len(tiles)} tiles: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    if never:
        print("proven not to fit: " + ", ".join(never))
    print("\n".join(odd))
    return 1 if counts["undecided"] else 0


if __name__ == "__main__":
    sys.exit(main())
