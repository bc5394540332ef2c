#!/usr/bin/env python3
"""Writes the tables of docs/paper.md from what `twill` answers.

Usage: make_paper_results.py [--program build/release/twill] [--page docs/paper.md]

Everything but the seconds is the same on every computer.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- begin {} -->\n", "<!-- end {} -->"

# The paper's experiment, the loop that reaches MinII, the variant, the change.
EXPERIMENTS = [
    ("6.2.2, fewer warps", "fwd_b2", "paper/fwd_b2_fewer_warps", "two warpgroups of 148 registers, not three"),
    ("", "fwd_b2", "fwd_b2_2wg", "two warpgroups of 220 registers"),
    ("6.2.2, no sub-tiling", "fwd_b2", "paper/fwd_b2_no_subtiling", "one tile of 256 rows, not two of 128"),
    ("", "fwd_h2", "fwd_h1big", "Hopper: one tile of 128 rows, not two of 64"),
    ("6.2.2, no cross-warp communication", "fwd_b2", "paper/fwd_b2_no_crossing", "no value leaves its group"),
    ("6.3.2, fewer registers", "bwd_b2", "paper/bwd_b2_120_registers_2wg", "120 registers, not 148, and two groups"),
    ("6.3.2, with a third group", "bwd_b2", "paper/bwd_b2_120_registers", "120 registers, not 148"),
]

# Loops of the paper: name, seconds there, our loop with the same work.
TIMES = [
    ("forward, Hopper", "28", "fwd_h2"),
    ("forward, Blackwell", "19", "fwd_b2"),
    ("backward, Hopper", "88", "bwd_h2"),
    ("backward, Blackwell", "269", "bwd_b2"),
    ("backward, Blackwell, fewer registers", "64", "paper/bwd_b2_120_registers"),
]

NORMALIZED = ["fwd_h1", "fwd_h1big", "fwd_h2", "bwd_h1", "bwd_h2", "fwd_b1", "fwd_b2", "fwd_b2_2wg", "bwd_b1",
              "bwd_b2", "meta_fwd", "meta_bwd"]


def schedule(program, loop, options=()):
    """The JSON of `twill schedule`."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "schedule.json"
        command = [program, "schedule", f"loops/{loop}.loop", "--timing", "-o", str(file), *options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        answer = json.loads(file.read_text())
        if answer["verdict"] != "optimal":
            sys.exit(f"{' '.join(command)}: {answer['verdict']}")
        return answer


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def table(heads, rows):
    return row(heads) + "|---" * len(heads) + "|\n" + "".join(row(cells) for cells in rows)


def compute_groups(answer):
    count = sum(1 for group in answer["groups"] if group["ops"] and not group["loads"] and group["width"] > 1)
    return f"{count} group{'s' if count != 1 else ''}"


def experiments(program):
    for title, base, variant, change in EXPERIMENTS:
        before, after = schedule(program, base), schedule(program, variant)
        ii, optimum = before["initiation_interval"], after["initiation_interval"]
        there = "a schedule" if optimum == ii else "none, refuted"
        cost = "" if optimum == ii else f"{100 * (optimum / ii - 1):+.1f} %"
        yield [title, f"`{base}`: {ii}, {compute_groups(before)}", f"`{variant}`: {change}", there,
               f"{optimum}, {compute_groups(after)}", cost]


def seconds(answer):
    return f"{sum(answer['seconds'].values()):.2f}"


def times(program):
    for title, paper, loop in TIMES:
        answer = schedule(program, loop)
        yield [title, f"{paper} s", f"`{loop}`", answer["initiation_interval"], f"{seconds(answer)} s"]


def slowdown(answer):
    return f"{answer['initiation_interval'] / answer['min_ii']['value']:.3f}"


def lost(answer):
    """The count in the note of `--normalize`: "98 of 132"."""
    for note in answer["notes"]:
        found = re.search(r"(\d+ of \d+) positive costs became 0", note)
        if found:
            return found[1]
    return "0"


def normalizations(program):
    for loop in NORMALIZED:
        raw = schedule(program, loop)
        paper = schedule(program, loop, ["--normalize", "300:paper"])
        repaired = schedule(program, loop, ["--normalize", "1000"])
        yield [f"`{loop}`", raw["initiation_interval"], slowdown(raw), lost(paper), paper["initiation_interval"],
               slowdown(paper), repaired["initiation_interval"], slowdown(repaired)]


def replaced(text, name, content):
    begin, end = BEGIN.format(name), END.format(name)
    head, rest = text.split(begin, 1)
    return head + begin + "\n" + content + "\n" + end + rest.split(end, 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/twill"))
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/paper.md")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    text = arguments.page.read_text()
    text = replaced(text, "experiments", table(
        ["experiment", "baseline reaches", "variant", "variant at that II", "its optimum", "cost"],
        experiments(program)))
    text = replaced(text, "times", table(
        ["attention", "paper", "our loop of the same work", "II", "all levels, proven and checked"], times(program)))
    text = replaced(text, "normalization", table(
        ["loop", "II", "/ MinII", "paper, U = 300: costs at 0", "II", "/ MinII", "repaired, U = 1000: II", "/ MinII"],
        normalizations(program)))
    arguments.page.write_text(text)


main()
