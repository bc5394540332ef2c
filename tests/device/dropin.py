#!/usr/bin/env python3
"""Compares plain Triton and the drop-in on a Hopper GPU, with unmodified kernels. README.md lists the runs and the bars.

Usage: dropin.py [--only WORD,WORD...] [--seconds N] [--json FILE] [--wheel FILE] [--list]
"""

import argparse
import json
import os
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]

import torch  # noqa: E402
import triton  # noqa: E402

import dropin_entries  # noqa: E402
import dropin_rows  # noqa: E402
import dropin_stages  # noqa: E402
import from_nothing  # noqa: E402
import twill_gpu  # noqa: E402

LONGEST_FIRST = 2.0  # times plain Triton's first launch; a longer one fails
MOST_ERROR = 1.1  # times plain Triton's error against float64
MOST_APART = 2.0  # times plain Triton's error, all elements: two results with that error are no further apart
DEAREST_LAUNCH_US = 0.5  # more microseconds than plain Triton's on the host; a dearer launch fails the run


def too_long(row):
    """Whether the first launch misses its bar, without the time of the race."""
    return row["alike"] and row["first_dropin_s"] > LONGEST_FIRST * row["first_plain_s"] + 0.2


def wrong_results(row):
    """A line for each result that neither equals plain Triton's nor is as close to the right result."""
    if not row["bits"]:
        yield "the drop-in's result differs from plain Triton's"
    for which in ("forced", "over_tiles"):
        error, apart = row.get(f"error_{which}"), row.get(f"apart_{which}")
        if row.get(f"bits_{which}") is False and error is None:
            yield f"bits differ ({which}), and nothing says how far from what is right"
        if error is not None and not error <= MOST_ERROR * row["error_plain"]:
            yield f"error_{which} {error:.2e}, plain {row['error_plain']:.2e}"
        if None not in (error, apart) and not apart <= MOST_APART * row["error_plain"]:
            yield f"{which} is {apart:.2e} from plain Triton's result, whose error is {row['error_plain']:.2e}"


def failures_of(row):
    """A line for each bar that a row misses."""
    yield from wrong_results(row)
    if row["refused"]:
        return
    for which in ("ratio", "ratio_gpu"):
        if row[which] is not None and row[which] < dropin_rows.SLOWEST and not row["always"]:  # launches get only kernels that a race has chosen
            yield f"{which} {row[which]:.3f}"
    if row["bar"] and row["ratio"] < row["bar"]:
        yield f"ratio {row['ratio']:.3f}, wanted {row['bar']}"
    if too_long(row):
        yield f"first launch {row['first_dropin_s']:.2f} s, plain {row['first_plain_s']:.2f} s"
    if row["no_walk"] and not (row["no_walk_expected"] and re.search(row["no_walk_expected"], row["no_walk"])):
        yield f"no kernel walks its tiles: {row['no_walk']}"


def failures_of_check(name, value):
    """The line of a check that failed, if it did."""
    if value is None:
        yield f"{name}: out of time"
    elif isinstance(value, dict):
        if value["race_more_us"] > DEAREST_LAUNCH_US:
            yield f"a launch takes the host {value['race_more_us']:.1f} us more than plain Triton's {value['plain_us']:.1f} us"
    elif value is False or not isinstance(value, bool) and value:
        yield f"{name}: {value or 'wrong'}"


HEAD = (f"{'case':36} {'plain':>7} {'drop-in':>7} {'ratio':>6} {'on GPU':>6} {'tiles':>6}  {'takes':16}  right forced   tiles     "
        "first plain / drop-in + until both, all")


def shown_apart(row, which):
    """Whether a kernel has plain Triton's bits, or else the distance of its result from plain Triton's."""
    bits, apart = row[f"bits_{which}"], row[f"apart_{which}"]
    return "-" if bits is None else "same" if bits else "other" if apart is None else f"{apart:.1e}"


def printed(row):
    if row["refused"]:
        return f"{row['case']:36} Triton's alone, as expected: {row['refused']}"
    gpu, tiles = (f"{row[which]:6.3f}" if row[which] is not None else "     -" for which in ("ratio_gpu", "ratio_over_tiles"))
    forced, walked = (shown_apart(row, which) for which in ("forced", "over_tiles"))
    return (f"{row['case']:36} {row['plain_tflops']:7.1f} {row['dropin_tflops']:7.1f} {row['ratio']:6.3f} {gpu} {tiles}  {row['takes']:16}  "
            f"{'yes' if row['bits'] else 'no':5} {forced:8} {walked:8}  {row['first_plain_s']:.2f} / {row['first_dropin_s']:.2f} + "
            f"{row['waited_s']:.2f} s, {row['seconds']:.0f} s")


class Run:
    """The findings so far. The file of --json is complete after each entry, so an interrupted run leaves its findings."""

    def __init__(self, path, begin):
        self.path, self.begin, self.rows, self.checks, self.wrong, self.left_out, self.stranger = path, begin, [], {}, [], [], None

    def seconds(self):
        return time.monotonic() - self.begin

    def keep(self):
        if self.path is None:
            return
        text = json.dumps({"device": torch.cuda.get_device_name(), "triton": triton.__version__, "rows": self.rows, "checks": self.checks,
                           "from_nothing": self.stranger, "report": twill_gpu.report().to_dict(), "wrong": self.wrong,
                           "left_out": self.left_out, "seconds": self.seconds()}, indent=1)
        part = self.path.with_suffix(".part")
        part.write_text(text)
        os.replace(part, self.path)

    def fail(self, name, lines):
        for line in lines:
            self.wrong.append(f"{name}: {line}")
            print(f"  WRONG {line}", flush=True)

    def from_wheel(self, wheel):
        self.stranger = from_nothing.from_nothing(wheel)
        print(self.stranger, flush=True)
        self.fail("from nothing", from_nothing.complaints(self.stranger))
        self.keep()

    def row(self, entry):
        row = dropin_rows.run_case(entry.work())
        self.rows.append(row)
        print(printed(row), flush=True)
        if not row["refused"] and too_long(row):
            print("\n".join(dropin_stages.lines(row["stages"])), flush=True)
        self.fail(row["case"], failures_of(row))

    def check(self, entry, deadline):
        value = self.checks[entry.name] = entry.work(deadline)
        shown = {name: part for name, part in value.items() if name != "rounds" and not name.startswith("report")} if isinstance(value, dict) else value
        print(f"{entry.name}: {shown}", flush=True)
        self.fail(entry.name, entry.failures(value) if entry.failures else failures_of_check(entry.name, value))

    def entry(self, entry, deadline):
        """Runs one entry. An entry that breaks is a failure, but the others still run."""
        try:
            self.check(entry, deadline) if entry.is_check else self.row(entry)
        except Exception as wrong:
            lines = str(wrong).splitlines() or [""]
            print(entry.name, flush=True)
            self.fail(entry.name, [f"{type(wrong).__name__}: {lines[0][:300]}"])
        self.keep()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose names have one of these words, which commas part")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=285, help="no entry is begun that would not be over by then")
    parser.add_argument("--list", action="store_true", help="the names of the entries, and about how long each takes")
    arguments = parser.parse_args()
    entries = dropin_entries.chosen([word for word in arguments.only.split(",") if word])
    if arguments.list:
        print("\n".join(f"{entry.seconds:4} s  {entry.name}" for entry in entries))
        return 0
    torch.manual_seed(0)
    run = Run(arguments.json, time.monotonic())
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, torch {torch.__version__}, {twill_gpu.find_program().path}\n{HEAD}", flush=True)
    if not entries:
        run.fail("--only", ["no entry has such a name (--list has them)"])
    if arguments.wheel:
        run.from_wheel(arguments.wheel.resolve())
    dropin_rows.warm_up()
    spared = []
    for entry in entries:
        if run.seconds() + entry.seconds > arguments.seconds:
            (spared if entry.extra else run.left_out).append(entry.name)
            continue
        run.entry(entry, run.begin + arguments.seconds)
    if run.left_out:
        run.fail("left out for want of time", run.left_out)
    run.keep()
    if spared:
        print(f"left out, as no bar needs them: {', '.join(spared)} (--only takes them, and --seconds gives more time)")
    print("\n".join(run.wrong) or "all right", f"after {run.seconds():.0f} s")
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
