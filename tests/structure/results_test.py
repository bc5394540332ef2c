#!/usr/bin/env python3
"""Protects figures that several pages show: docs/results.md and bench/README.md have the figures of tests/driver/answers.txt for bundled inputs.

The test driver.bracket compares that list with the program, so pages cannot keep old figures. Prints the command that writes a page again.
"""
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import make_results  # noqa: E402

RESULTS, BENCH = "docs/results.md", "bench/README.md"


def cells_of(text):
    """Cells of each row of the tables in a text."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]


def section(page, title):
    """The text from a line up to the next title or end of a written table."""
    found = re.search(rf"^{re.escape(title)}$(.*?)(?=^#|^<!-- end|\Z)", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no {title!r}"
    return found[1]


def answers():
    """By input: verdict, II, bound, proven, simulated, pool, rate."""
    rows = map(str.split, (ROOT / "tests/driver/answers.txt").read_text().splitlines())
    return {row[0]: row[1:8] for row in rows if row[0] != "#"}


def interval_with_bound(answer):
    verdict, interval, bound = answer[:3]
    return interval if interval == bound else f"{interval} (at least {bound})"


class Results(unittest.TestCase):
    def setUp(self):
        self.answers = answers()

    def same(self, page, name, found, expected):
        renew = "tools/make_results.py" if page == RESULTS else "bench/run --write"
        self.assertEqual(found, expected, f"{page}, {name}: answers.txt has other figures; `{renew}` writes the page")

    def test_bench_table(self):
        rows = [row for row in cells_of(section(BENCH, "<!-- written by bench/run -->")) if row[0] in self.answers]
        self.assertGreater(len(rows), 90)
        for row in rows:
            self.same(BENCH, row[0], row[2:5], self.answers[row[0]][:3])

    def test_loops(self):
        rows = cells_of(section(RESULTS, "## Loops with published-rate costs"))
        known = [row for row in rows if f"loops/{row[0]}.loop" in self.answers]
        self.assertGreater(len(known), 15)
        for row in known:
            self.same(RESULTS, row[0], row[2], interval_with_bound(self.answers[f"loops/{row[0]}.loop"]))

    def test_kernels(self):
        for machine, kernels in make_results.KERNELS.items():
            rows = {row[0]: row for row in cells_of(section(RESULTS, f"## Triton kernels on {machine}"))}
            for title, path, options in kernels:
                if options:
                    continue  # a row of another answer
                row, answer = rows[title], self.answers[f"kernels/{path}.pre.ttgir"]
                proven = row[5].split(" .. ")[0]
                self.same(RESULTS, title, [*row[1:3], row[4], proven],
                          [answer[5], answer[6], interval_with_bound(answer), answer[3]])

    def test_every_kernel(self):
        for machine in make_results.ARCHITECTURES:
            rows = [row for row in cells_of(section(RESULTS, f"## Every kernel on {machine}, simulated"))
                    if f"kernels/{row[0]}.pre.ttgir" in self.answers]
            self.assertGreater(len(rows), 30)
            for row in rows:
                _, interval, _, _, simulated, *_ = self.answers[f"kernels/{row[0]}.pre.ttgir"]
                cycles, shown = re.fullmatch(r"(\S+)(?: \((\d+)\))?", row[1]).groups()
                self.same(RESULTS, row[0], shown, interval)
                if simulated == "-":
                    self.same(RESULTS, row[0], cycles, "-")
                else:  # a tenth there, whole cycles here
                    self.assertLessEqual(abs(float(cycles) - float(simulated)), 0.56, f"{RESULTS}, {row[0]}: simulated")


if __name__ == "__main__":
    unittest.main()
