#!/usr/bin/env python3
"""GEMM tiles of kernels/tasks/gemm.task: each is scheduled to a proven optimum, or proven to have no schedule.

Rows 64 to 256 by 64 (a warp group has 64), columns 8 to 256 by 8. With --sample only some, which change from commit to commit; with --emit each scheduled
tile is printed as CUDA C++ too. Prints a table for docs, with what is scheduled and has no plan or is not printed, and ends with 1 if a tile is undecided.
"""
import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from cases import add_options, chosen, twill

TASK = "kernels/tasks/gemm.task"
SCHEDULED, NEVER, NO_PLAN = 0, 4, 7


def answer(options, mapping):
    """(what came of a tile, its words)"""
    ran = twill(options, "schedule", TASK, "--map", mapping, "--json")
    text = ran.stderr
    said = json.loads(ran.stdout) if ran.stdout else {}
    if ran.returncode == NEVER and said.get("verdict") == "infeasible":
        return "proven not to fit", text
    if ran.returncode == NO_PLAN:
        return "scheduled, no plan", text
    optimal = any(it["chosen"] and it["verdict"] == "optimal" for it in said.get("candidates", []))
    if ran.returncode != SCHEDULED or not optimal:
        return "undecided", text
    if not options.emit:
        return "scheduled, proven optimal", text
    for how, tiles in (("printed", "persistent"), ("printed, one a CTA", "one")):
        printed = twill(options, "emit", "cuda", TASK, "--map", mapping, "--no-compile", "--tiles", tiles)
        if printed.returncode == 0:
            return how, text
    return "scheduled, not printed", printed.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--emit", action="store_true")
    options = parser.parse_args()
    tiles = chosen(options, [], [(str(rows), str(columns)) for rows in range(64, 257, 64) for columns in range(8, 257, 8)])
    counts, odd, never = Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        mapping = str(Path(folder) / "tile.map")
        for rows, columns in tiles:
            Path(mapping).write_text(f"map tile for gemm on h200 {{ U = {rows}  V = {columns}  W = 64 }}\n")
            what, text = answer(options, mapping)
            counts[what] += 1
            if what == "proven not to fit":
                never.append(f"{rows} x {columns}")
            if what not in ("proven not to fit", "scheduled, proven optimal", "printed", "printed, one a CTA"):
                odd.append(f"{rows} x {columns}: {what}: {text.strip().splitlines()[-1] if text.strip() else ''}")
    print(f"{len(tiles)} tiles: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    if never:
        print("proven not to fit: " + ", ".join(never))
    print("\n".join(odd))
    return 1 if counts["undecided"] else 0


if __name__ == "__main__":
    sys.exit(main())
