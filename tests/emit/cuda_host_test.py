#!/usr/bin/env python3
"""Runs emitted kernels whose tiles threads copy on the host: cuda_host_test.py TWILL CXX

Protects: chunks, masks, swizzles, rings, barriers, trip counts and stores of what `twill emit cuda` prints for pointer loads, of each
strategy, with one tile for each CTA, with turns, and with a loop over tiles that was flattened, where there is no GPU:
host_run/host_runtime.h stands in for runtime/*.cuh, and each program compares with a plain loop.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STRATEGIES = ("twill", "modulo", "triton", "cypress", "sequential")
HEADERS = ("barrier", "copy", "fragment", "role", "tile", "tma", "wgmma")
# M, N, K and CTAs: whole tiles, odd ones with several tiles a CTA, no trips, one; the text calls the sizes multiples of 16, and the last
# are as odd as the launch function lets pass.
GEMM = ("128 128 64 1", "256 144 208 1", "112 272 0 1", "16 16 16 1", "144 16 1040 2", "101 200 72 1")
# Tiles of 128 x 32 x 16 (of B there are fewer chunks than threads; the 5th number is for the program) and of 128 x 64 x 32.
UNEVEN = ("128 32 16 1 32", "144 80 112 2 32")
TRANSPOSED = ("128 64 32 1", "144 80 112 2", "16 16 0 1")
DOWN = TRANSPOSED  # Pointers that move back; the first tiles of K are cut off.
# Images, height, width, channels in and out, CTAs: every border, rows of a tile from two images, an odd end.
CONV = ("2 6 5 64 128 1", "3 9 16 128 256 2")
# Tiles of 64 x 32 x 32 in a loop that was flattened into the main loop, whose stride is three CTAs: several tiles a CTA, more CTAs than
# tiles, no trips.
FLAT = ("208 80 112 3", "64 32 32 3", "80 48 0 3")
KERNELS = (("kernels/gemm/sm_90/ptr_128x128x64.pre.ttgir", "gemm", GEMM), ("tests/emit/host_run/uneven.ttgir", "gemm", UNEVEN),
           ("tests/emit/host_run/transposed.ttgir", "transposed", TRANSPOSED),
           ("tests/emit/host_run/counted_down.ttgir", "counted_down", DOWN),
           ("tests/execute/flat/carried_pointers.sm_90.ttgir", "carried_pointers", FLAT),
           ("kernels/conv2d/sm_90/3x3_128x128x64.pre.ttgir", "conv2d", CONV))


def run(twill, cxx, scratch, kernel, program, sizes, strategy, *options):
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    emitted = [twill, "emit", "cuda", "--no-compile", str(ROOT / kernel), "--machine", "h200", "--strategy", strategy, *options, "-o", str(folder)]
    subprocess.run(emitted, check=True, capture_output=True)
    (folder / "kernel.cu").rename(folder / "kernel.h")
    shutil.rmtree(folder / "runtime")
    (folder / "runtime").mkdir()
    for header in HEADERS:
        (folder / "runtime" / f"{header}.cuh").write_text('#include "host_runtime.h"\n')
    built = folder / program
    source = HERE / "host_run" / f"{program}.cpp"
    subprocess.run([cxx, "-std=c++20", "-O1", "-w", "-pthread", f"-I{folder}", f"-I{source.parent}", str(source), "-o", str(built)],
                   check=True)
    wrong = []
    for size in sizes:
        done = subprocess.run([str(built), *size.split()], capture_output=True, text=True, timeout=120)
        if done.returncode:
            wrong.append(f"{kernel} {size}, {' '.join([strategy, *options])}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return wrong


def main():
    twill, cxx = sys.argv[1:3]
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for kernel, program, sizes in KERNELS:
            for strategy in STRATEGIES:
                if sizes is FLAT and strategy == "triton":  # cuts rows, of which tiles of 64 x 32 have none to spare
                    continue
                wrong += run(twill, cxx, scratch, kernel, program, sizes, strategy)
            if sizes is not FLAT:  # whose tiles are walked by a loop of its own, and whose rows are not cut
                wrong += run(twill, cxx, scratch, kernel, program, sizes[1:3], "twill", "--tiles", "one")
                wrong += run(twill, cxx, scratch, kernel, program, sizes[1:3], "triton", "--ping-pong")
    print("\n".join(wrong) or "all of them compute what they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
