"""Timelines of instrumented kernels: `timeline.py FOLDER [--only REGEX] [--size N] [--trace FOLDER] [--json FILE]`.

FOLDER holds kernels of `emit.py --instrument sections|steps`. Each runs at one of the sizes at which it is measured, and the
stamps of CTA 0 come back. With stamps at the sections: cycles of an iteration in the steady state, and of each other section,
per tile. With stamps at all steps, for every role: the begin of each step of the steady state after the first step, the time
until the next begins (medians over all iterations), and its cycle in the schedule. Every stamp costs some 25 cycles and keeps
code from moving over it. With --trace, also the whole run as FOLDER/NAME.json for trace viewers, beside the simulated timeline
if the kernel's folder has one (planned.json, from `twill simulate --trace`).
"""
import argparse
import collections
import ctypes
import json
import pathlib
import statistics

import torch

import kernels
import measure

LIMIT = 1 << 15  # most stamps of a role


def recorded(kernel, size):
    """By role: the steps that it took and the clock at which each began, counted from the earliest stamp of all."""
    legend = json.loads((kernel.folder / "stamps.json").read_text())
    problem = kernel.make(size, kernel.dtype)
    roles = len(legend["roles"])
    for _ in range(3):  # warm: the last run counts
        stamps = torch.zeros(roles, LIMIT, 4, dtype=torch.int32, device="cuda")
        kernel.launch(problem, [ctypes.c_void_p(stamps.data_ptr()), ctypes.c_int(LIMIT)])
        torch.cuda.synchronize()
    runs = []
    for role in stamps.cpu().tolist():
        steps, clock, before = [], 0, None
        for step, stamp, rounds, _ in role:
            if step == 0 and stamp == 0:
                break
            clock = stamp if before is None else clock + (stamp - before) % (1 << 32)
            before = stamp
            steps.append((step, clock, rounds))
        runs.append(steps)
    first = min(steps[0][1] % (1 << 32) for steps in runs if steps)
    return legend, [[(step, clock - first, rounds) for step, clock, rounds in steps] for steps in runs]


def words(step):
    parts = [step["kind"], step.get("fence"), step.get("op"), step.get("channel") if "op" not in step else None]
    if "pending" in step:
        parts.append(f"to {step['pending']}")
    return " ".join(part for part in parts if part)


def sections(legend, runs):
    """By role: cycles of an iteration, and of each section per tile."""
    rows = []
    for role, steps in zip(legend["roles"], runs):
        cycles, times, rounds = collections.Counter(), collections.Counter(), 0
        for (number, at, count), after in zip(steps, steps[1:]):
            if number < len(legend["steps"]):
                section = legend["steps"][number]["section"]
                cycles[section] += after[1] - at
                times[section] += 1
                rounds += count
        if rounds:
            rows.append(dict(role=role["name"], iteration=round(cycles["steady"] / rounds, 1), iterations=rounds,
                             **{section: round(cycles[section] / times[section]) for section in cycles if section != "steady"}))
    return rows


def table(legend, runs):
    lines = []
    for role, steps in zip(legend["roles"], runs):
        starts, lasts, window = collections.defaultdict(list), collections.defaultdict(list), None
        heads, seen = [], None
        for (number, at, _), after in zip(steps, steps[1:]):
            if number >= len(legend["steps"]) or legend["steps"][number]["section"] != "steady":
                continue
            if seen is None or number <= seen:
                window = at
                heads.append(at)
            seen = number
            starts[number].append(at - window)
            lasts[number].append(after[1] - at)
        between = [b - a for a, b in zip(heads, heads[1:])]
        if not between:
            continue
        lines.append(f"{role['name']}: {statistics.median(between):.0f} cycles an iteration, mean "
                     f"{(heads[-1] - heads[0]) / len(between):.0f} over {len(between)}; "
                     f"scheduled {legend['initiation_interval']}")
        for number in sorted(starts):
            step = legend["steps"][number]
            lines.append(f"  {step['cycle']:6}  {statistics.median(starts[number]):6.0f} +{statistics.median(lasts[number]):5.0f}  "
                         f"{words(step)} [{step['offset']}]")
    return "\n".join(lines)


def trace(legend, runs, planned):
    events = [dict(name="process_name", ph="M", pid=0, args=dict(name="measured"))]
    for tid, (role, steps) in enumerate(zip(legend["roles"], runs)):
        events.append(dict(name="thread_name", ph="M", pid=0, tid=tid, args=dict(name=role["name"])))
        for (number, at, _), (_, end, _) in zip(steps, steps[1:]):
            if number < len(legend["steps"]):
                step = legend["steps"][number]
                events.append(dict(name=words(step), cat=step["section"], ph="X", pid=0, tid=tid, ts=at, dur=end - at))
    if planned.exists():
        simulated = json.loads(planned.read_text())["traceEvents"]
        for event in simulated:
            if event.get("name") == "process_name":
                event["args"]["name"] = "simulated: " + event["args"]["name"]
        events += simulated
    return dict(traceEvents=events)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--size", type=int, default=-1, help="which of the sizes of measure.py [the last]")
    parser.add_argument("--trace", type=pathlib.Path)
    parser.add_argument("--json", help="where to put the cycles of the sections")
    options = parser.parse_args()
    all_rows = []
    for kernel in kernels.build(options.folder, options.only):
        size = measure.SIZES[kernel.name][options.size]
        legend, runs = recorded(kernel, size)
        label = f"{kernel.label}, {' x '.join(map(str, size))}"
        if legend["stamps"] == "sections":
            rows = sections(legend, runs)
            for row in rows:
                print(f"{label}: " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            about = kernel.folder / "model.json"
            model = json.loads(about.read_text()) if about.exists() else {}
            all_rows += [dict(kernel=kernel.label, size=list(size), **row, model=model) for row in rows]
            continue
        print(f"{label}\n{table(legend, runs)}\n", flush=True)
        if options.trace:
            options.trace.mkdir(parents=True, exist_ok=True)
            (options.trace / f"{kernel.label}.json").write_text(json.dumps(trace(legend, runs, kernel.folder / "planned.json")))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(all_rows, indent=1))


if __name__ == "__main__":
    main()
