#!/usr/bin/env python3
"""Plain Triton against the drop-in on a Hopper GPU, with unmodified kernels. README.md says what is run, and what the bars are.

Usage: dropin.py [--json FILE] [--only WORD] [--seconds N] [--wheel FILE]
"""

import argparse
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]

import torch  # noqa: E402
import triton  # noqa: E402

import dropin_checks  # noqa: E402
import dropin_kernels  # noqa: E402
import dropin_rows  # noqa: E402
import dropin_stages  # noqa: E402
import from_nothing  # noqa: E402
import twill_gpu  # noqa: E402

LONGEST_FIRST = 2.0  # times plain Triton's first launch, beyond which a case fails
DEAREST_LAUNCH_US = 0.5  # more than plain Triton's on the host, beyond which the run fails


def too_long(row):
    """Whether the first launch misses its bar, beside what the race takes."""
    return row["alike"] and row["first_dropin_s"] > LONGEST_FIRST * row["first_plain_s"] + 0.2


def failures(rows, found):
    """A line for each bar that is missed."""
    for row in rows:
        for which in ("ratio", "ratio_gpu"):
            if row[which] is not None and row[which] < dropin_rows.SLOWEST:
                yield f"{row['case']}: {which} {row[which]:.3f}"
        if row["bar"] and row["ratio"] < row["bar"]:
            yield f"{row['case']}: ratio {row['ratio']:.3f}, wanted {row['bar']}"
        if too_long(row):
            yield f"{row['case']}: first launch {row['first_dropin_s']:.2f} s, plain {row['first_plain_s']:.2f} s"
        if not row["bits"]:
            yield f"{row['case']}: the drop-in's result differs from plain Triton's"
        if not row["bits_forced"] and row["error_forced"] is None:
            yield f"{row['case']}: Twill's bits differ, and nothing says how far"
        if row["bits_over_tiles"] is False and row["error_over_tiles"] is None:
            yield f"{row['case']}: bits over tiles differ, and nothing says how far"
        for which in ("error_forced", "error_over_tiles"):
            if row[which] is not None and row[which] > 1.1 * row["error_plain"]:
                yield f"{row['case']}: {which} {row[which]:.2e}, plain {row['error_plain']:.2e}"
    for name, value in found.items():
        if name.startswith("differing") and (value is False or value):
            yield f"{name}: {value}"
        elif value is False:
            yield f"{name}: wrong"
    host = found["host"]
    if host["race_more_us"] > DEAREST_LAUNCH_US:
        yield f"a launch takes the host {host['race_more_us']:.1f} us more than plain Triton's {host['plain_us']:.1f} us"


def printed(row):
    gpu, tiles = (f"{row[which]:6.3f}" if row[which] is not None else "     -" for which in ("ratio_gpu", "ratio_over_tiles"))
    return (f"{row['case']:36} {row['plain_tflops']:7.1f} {row['dropin_tflops']:7.1f} {row['ratio']:6.3f} {gpu} {tiles}  {row['takes']:16}  "
            f"{row['bits']!s:5} {row['bits_forced']!s:5} {row['bits_over_tiles']!s:5}  {row['first_plain_s']:.2f} / {row['first_dropin_s']:.2f} + {row['waited_s']:.2f} s")


def attempted(build, word):
    """The row of a case, None where its name lacks `word`, and one line where it breaks: the other rows are worth having."""
    case = None
    try:
        case = build()
        return dropin_rows.run_case(case) if word in case.name else None
    except Exception as wrong:
        lines = str(wrong).splitlines() or [""]
        return f"{case.name if case else build}: {type(wrong).__name__}: {lines[0][:300]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=270)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    begin, rows, wrong, stranger = time.monotonic(), [], [], None
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, torch {torch.__version__}, {twill_gpu.find_program().path}")
    print(f"{'case':36} {'plain':>7} {'drop-in':>7} {'ratio':>6} {'on GPU':>6} {'tiles':>6}  {'takes':16}  bits  forced tiles  first plain / drop-in + until both")
    if arguments.wheel:
        stranger = from_nothing.from_nothing(arguments.wheel.resolve())
        wrong += from_nothing.complaints(stranger)
        print(stranger, flush=True)
    dropin_rows.warm_up()
    builders = dropin_rows.cases() + dropin_kernels.cases()
    left_out = len(builders)
    for build in builders:
        if time.monotonic() - begin > arguments.seconds - 45:
            print("out of time")
            break
        row = attempted(build, arguments.only)
        left_out -= 1
        if isinstance(row, str):
            wrong.append(row)
            print(row, flush=True)
        elif row is not None:
            rows.append(row)
            print(printed(row), flush=True)
            if too_long(row):
                print("\n".join(dropin_stages.lines(row["stages"])), flush=True)
    found = dropin_checks.checks(begin + arguments.seconds)
    print(found, flush=True)
    print(twill_gpu.report())
    wrong += failures(rows, found)
    if left_out:
        wrong.append(f"{left_out} cases were left out for want of time")
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": torch.cuda.get_device_name(), "triton": triton.__version__, "rows": rows,
                                              "checks": found, "from_nothing": stranger, "report": twill_gpu.report().to_dict(), "wrong": wrong,
                                              "seconds": time.monotonic() - begin}, indent=1))
    print("\n".join(wrong) or "all right", f"after {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
