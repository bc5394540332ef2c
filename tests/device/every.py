#!/usr/bin/env python3
"""Runs every kernel through the drop-in on a Hopper GPU: results, and its speed beside plain Triton's. README.md lists the kernels and the bars.

Usage: every.py [--only WORD,WORD...] [--seconds N] [--processes N] [--json FILE] [--list]

All kernels are compiled first, in several processes, into one cache folder. Then a process launches one after the other. If it ends early or stops,
that kernel is a failure and another process goes on after it.
"""

import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]

SLOWEST = 0.98  # share of plain Triton's speed
MOST_ERROR = 1.1  # times plain Triton's against float64
MARK = "every.py: "  # before the lines of the processes
LONGEST = 60.0  # seconds for one kernel
COMPILING = 0.45  # largest share of the time


# ---- In the processes
def say(**values):
    print(MARK + json.dumps(values), flush=True)


def compile_some(names, cache):
    """Compiles all kernels of the names that no other process has taken: plain Triton's, Twill's, and Twill's over tiles. Races are neither measured
    nor kept.
    """
    import every_cases
    import torch
    import twill_gpu
    from twill_gpu.dropin import contest, store

    real = store.race_path
    contest.decide = lambda *_: contest.Verdict(False, (1e-6, 1e-6), (1e-6, 1e-6), 0)
    store.race_path = lambda *parts: real(*parts).with_suffix(f".compiled_{os.getpid()}")
    for name in names:
        if name.startswith(every_cases.COMPILES_ALONE) or not taken(pathlib.Path(cache) / "taken" / name.replace(" ", "_")):
            continue
        began = time.monotonic()
        try:
            every = every_cases.CASES[name]()
            every.left()
            with twill_gpu.enabled(**every.case.settings):
                for _ in range(2):
                    every.left()
                    twill_gpu.wait(100)
            del every
            torch.cuda.empty_cache()
        except Exception as wrong:  # reported where the kernel is timed
            say(name=name, why=f"{type(wrong).__name__}: {str(wrong)[:200]}")
        say(name=name, compiled_s=time.monotonic() - began)


def taken(path):
    """Whether this process is the first to take a name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def time_some(names):
    """A row for each of the names, one after the other."""
    import dropin_rows
    import every_cases
    import torch

    torch.manual_seed(0)
    dropin_rows.warm_up()
    for name in names:
        say(begins=name)
        began = time.monotonic()
        try:
            row = row_of(every_cases.CASES[name]())
        except Exception as wrong:
            row = {"why": f"{type(wrong).__name__}: {str(wrong).strip()[:300]}"}
        torch.cuda.empty_cache()
        say(row={"name": name, **row, "seconds": time.monotonic() - began})


def row_of(every):
    import dropin_rows as rows
    import twill_gpu

    case = every.case
    case.on("plain")
    try:
        plain = every.left()
    except Exception as refused:  # the drop-in must not request more than that
        return {"plain_fails": f"{type(refused).__name__}: {str(refused).strip().splitlines()[0][:160]}"}
    case.on("dropin")
    before = twill_gpu.report()
    with twill_gpu.enabled(**case.settings):
        ours = [every.left()]
        twill_gpu.wait(rows.LONGEST_WAIT)
        ours += [every.left() for _ in range(2)]
    races = [race for race in twill_gpu.report().races[len(before.races):]]
    compiled = twill_gpu.report().compilations[len(before.compilations):]
    row = {"takes": races[-1].takes if races else "triton", "races": [str(race) for race in races], "compilations": [str(one) for one in compiled],
           **right(rows, case, plain, ours)}
    eager, gpu = rows.measured(case)
    return {**row, "plain_tflops": case.flop / eager.seconds("plain") * 1e-12, "dropin_tflops": case.flop / eager.seconds("dropin") * 1e-12,
            "ratio": eager.ratio, "ratio_gpu": gpu.ratio if gpu else None, "quartiles": list(eager.quartiles), "pairs": len(eager.plain)}


def right(rows, case, plain, ours):
    """Whether all launches have plain Triton's bits; else errors against float64 of plain Triton's, and the largest of Twill's."""
    if case.alike and all(rows.same_bits(plain, left) for left in ours):
        return {"bits": True, "right": True}
    expected = case.reference() if case.reference else None
    if expected is None:
        return {"bits": False, "right": False}
    mine = rows.error_of(expected, plain)
    worst = max((rows.error_of(expected, left) for left in ours), key=lambda error: (error != error, error))
    return {"bits": False, "right": worst <= MOST_ERROR * mine, "error_plain": mine, "error": worst}


# ---- In the process that starts them
class Child:
    """A process of this script at work on some names, and its output, line by line."""

    def __init__(self, what, names, cache):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TWILL_") or key == "TWILL_PROGRAM"}
        environment |= {"TRITON_CACHE_DIR": f"{cache}/triton", "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("TWILL", None)
        self.log = open(f"{cache}/{what}_{time.monotonic_ns()}.log", "w+")
        self.process = subprocess.Popen([sys.executable, __file__, f"--{what}", json.dumps(names), "--cache", str(cache)], env=environment, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        self.told = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith(MARK):
                self.told.put(json.loads(line[len(MARK):]))
        self.told.put(None)

    def next(self, seconds):
        """The next line; None at the end. Raises queue.Empty after some seconds."""
        return self.told.get(timeout=max(0.0, seconds))

    def end(self):
        """Ends the process, and returns the end of its log."""
        self.process.kill()
        self.process.wait()
        self.log.seek(0)
        return self.log.read()[-600:]


def compile_all(names, cache, processes, seconds):
    """Compiles in several processes for some seconds at most. Returns seconds by name."""
    last, found = time.monotonic() + seconds, {}
    children = [Child("compile", names, cache) for _ in range(processes)]
    for child in children:
        try:
            while (told := child.next(last - time.monotonic())) is not None:
                if "compiled_s" in told:
                    found[told["name"]] = told["compiled_s"]
                else:
                    print(f"  {told['name']}: {told['why']}", flush=True)
        except queue.Empty:
            pass
    for child in children:
        child.end()
    return found


def time_all(names, cache, last):
    """Rows, as they come, of all names for which there is time."""
    left = list(names)
    while left and time.monotonic() < last:
        child = Child("time", left, cache)
        at, why = left[0], ""
        try:
            while (told := child.next(min(LONGEST + 30, last - time.monotonic()))) is not None:
                if "begins" in told:
                    at = told["begins"]
                else:
                    left.remove(at)
                    yield told["row"]
        except queue.Empty:
            why = "no end in time"
        log = child.end()
        if at in left and (not why or time.monotonic() < last):
            left.remove(at)
            yield {"name": at, "why": f"{why or 'its process ended'}: {log}", "seconds": 0.0}
    for name in left:
        yield {"name": name, "why": "left out for want of time", "seconds": 0.0}


def failures_of(row):
    """A line for each bar that a row misses."""
    if "why" in row:
        yield row["why"]
        return
    if "plain_fails" in row:
        return
    if not row["right"]:
        yield f"results: plain {row.get('error_plain', '-')}, ours {row.get('error', 'other bits, and no reference')}"
    for which in ("ratio", "ratio_gpu"):
        if row[which] is not None and row[which] < SLOWEST:
            yield f"{which} {row[which]:.3f}"


def printed(row):
    if "why" in row:
        return f"| {row['name']} | - | - | - | - | WRONG: {row['why'].splitlines()[0][:120]} | - |"
    if "plain_fails" in row:
        return f"| {row['name']} | - | - | - | - | plain Triton fails: {row['plain_fails'][:100]} | - |"
    gpu = f"{row['ratio_gpu']:.2f}" if row["ratio_gpu"] is not None else "-"
    return (f"| {row['name']} | {row['plain_tflops']:.0f} | {row['dropin_tflops']:.0f} | {row['ratio']:.2f} | {gpu} | {row['takes']} | "
            f"{'equal' if row['bits'] else 'error as plain' if row['right'] else 'WRONG'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="kernels whose names have one of these words, which commas part")
    parser.add_argument("--seconds", type=float, default=480, help="no kernel is launched beyond them")
    parser.add_argument("--processes", type=int, default=14, help="how many compile at once")
    parser.add_argument("--list", action="store_true", help="the names of the kernels")
    for hidden in ("--compile", "--time", "--cache"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.compile:
        return compile_some(json.loads(arguments.compile), arguments.cache)
    if arguments.time:
        return time_some(json.loads(arguments.time))
    import every_cases

    began = time.monotonic()
    words = [word for word in arguments.only.split(",") if word]
    names = [name for name in every_cases.CASES if not words or any(word in name for word in words)]
    if arguments.list or not names:
        print("\n".join(names) if names else "no kernel has such a name (--list has them)")
        return 0 if names else 1
    rows = []
    with tempfile.TemporaryDirectory(prefix="twill-every-") as cache:
        compiled = compile_all(names, cache, min(arguments.processes, len(names)), COMPILING * arguments.seconds)
        print(f"{len(compiled)} of {len(names)} compiled after {time.monotonic() - began:.0f} s, {sum(compiled.values()):.0f} s in all processes", flush=True)
        print("| kernel | plain Triton | drop-in | ratio | on the GPU | taken | bits |\n|---|---|---|---|---|---|---|", flush=True)
        for row in time_all(names, cache, began + arguments.seconds):
            rows.append({**row, "wrong": list(failures_of(row))})
            print(printed(row), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps({"compiled_s": compiled, "rows": rows, "seconds": time.monotonic() - began}, indent=1))
    wrong = [f"{row['name']}: {line}" for row in rows for line in row["wrong"]]
    timed = [row for row in rows if "ratio" in row]
    if timed:
        least = min(timed, key=lambda row: row["ratio"])
        print(f"{len(timed)} of {len(rows)} kernels timed; the least ratio is {least['ratio']:.3f} ({least['name']}); "
              f"Twill's kernel runs in {sum(row['takes'] != 'triton' for row in timed)}")
    print("\n".join(wrong) or "all right", f"after {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
