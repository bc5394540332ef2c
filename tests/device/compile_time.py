#!/usr/bin/env python3
"""Compile times of kernels: plain Triton's, and with the drop-in, until Triton's kernel is finished and until both are. Needs Triton and no GPU.

Usage: compile_time.py [--only WORD,WORD...] [--cores N,N...] [--turns N] [--json FILE]

Each number of cores has a process of its own, which may use no others. Caches are empty, and the shortest of some turns counts. Kernels over
tiles begin at a launch and are not included. Bars: twice plain Triton's time for both kernels, on two cores and more; 1.2 times for Triton's alone.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent), str(ROOT / "kernels")]

KERNELS = [("fa_fwd", "d128"), ("fa_fwd", "d64"), ("fa_fwd_causal", "d128"), ("gemm", "tma_128x256x64"), ("gemm", "tma_128x128x64"), ("gemm", "ptr_128x128x64"),
           ("gemm_rowsum", "128x256x64"), ("dual_gemm", "128x128x64"), ("fa_bwd_dq", "m128n64d128"), ("conv2d", "3x3_128x128x64")]
MOST_BOTH = 2.0
MOST_FIRST = 1.2
FEWEST_CORES = 2  # fewest cores for the bars


def source_of(kernel, variant):
    """A kernel compiled by Triton, with arguments that are multiples of 16, and the kernel's options for Hopper."""
    import importlib

    from triton.compiler import ASTSource

    sys.path.insert(0, str(ROOT / "kernels" / kernel))
    spec = next(spec for spec in importlib.import_module(kernel).SPECS if spec["variant"] == variant)
    signature = {name: spec["sig"].get(name, "constexpr") for name in spec["fn"].arg_names}
    attributes = {(number, ): [["tt.divisibility", 16]] for number, kind in enumerate(signature.values()) if kind[0] == "*" or kind in ("i32", "i64")}
    return ASTSource(fn=spec["fn"], signature=signature, constexprs=spec["const"], attrs=attributes), spec["opts"][90]


def compiled(kernel, variant):
    """Seconds of a compilation with an empty cache: until it returns, and until Twill's kernel is finished, too."""
    import triton
    from triton.backends.compiler import GPUTarget

    import twill_gpu

    source, options = source_of(kernel, variant)
    with tempfile.TemporaryDirectory() as folder:
        triton.knobs.cache.dir = folder
        began = time.perf_counter()
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
        first = time.perf_counter() - began
        twill_gpu.wait()
        return first, time.perf_counter() - began


def child(names, turns):
    """Prints, in a process of its own, a line for each kernel."""
    import dropin_stages

    import twill_gpu

    compiled("softmax", "br4bc1024")  # work that Triton does once in a process
    with twill_gpu.enabled(persistent=False):
        compiled("softmax", "br4bc1024")
    for name in names:
        plain, ours = [], []
        for _ in range(turns):
            plain.append(compiled(*name)[0])
            with twill_gpu.enabled(persistent=False), dropin_stages.watched() as stages:
                ours.append((*compiled(*name), list(stages)))
        both = min(ours, key=lambda turn: turn[1])
        runs, why = twill_gpu.report().compilations[-1].runs, twill_gpu.report().compilations[-1].why
        print(json.dumps({"kernel": ".".join(name), "plain_s": min(plain), "first_s": min(turn[0] for turn in ours), "both_s": both[1],
                          "race": runs == "race", "why": why if runs != "race" else "", "stages": both[2]}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    there = len(os.sched_getaffinity(0))
    parser.add_argument("--only", default="", help="kernels whose names have one of these words, which commas part")
    parser.add_argument("--cores", default=f"{min(2, there)},{there}", help="numbers of cores, which commas part")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    words = [word for word in arguments.only.split(",") if word]
    names = [name for name in KERNELS if not words or any(word in ".".join(name) for word in words)]
    if arguments.child:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(arguments.child)])
        child(names, arguments.turns)
        return 0
    rows, missed = [], []
    print("| kernel | cores | plain, s | first, s | both, s | first / plain | both / plain |\n|---|---|---|---|---|---|---|", flush=True)
    for cores in dict.fromkeys(map(int, arguments.cores.split(","))):
        process = subprocess.Popen([sys.executable, __file__, "--child", str(cores), "--only", arguments.only, "--turns", str(arguments.turns)], stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            row = {**json.loads(line), "cores": cores}
            rows.append(row)
            first, both = row["first_s"] / row["plain_s"], row["both_s"] / row["plain_s"]
            print(f"| {row['kernel']} | {cores} | {row['plain_s']:.2f} | {row['first_s']:.2f} | {row['both_s']:.2f} | {first:.2f} | {both:.2f} |", flush=True)
            missed += [f"{row['kernel']}, {cores} cores: {why}" for why, bad in ((row["why"], not row["race"]), (f"both {both:.2f}", both > MOST_BOTH), (f"first {first:.2f}", first > MOST_FIRST))
                       if bad and cores >= FEWEST_CORES]
        if process.wait() != 0:
            missed.append(f"{cores} cores: the process ended with {process.returncode}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    print("\n".join(missed) or "all right")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
