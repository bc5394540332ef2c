#!/usr/bin/env python3
"""Emits kernels and compiles them with NVRTC, as tuning loops do: cuda_nvrtc_test.py TWILL

Protects: an emitted folder needs nothing but CUDA's own headers, and what NVRTC lacks (host code, host headers) is kept from it. Exits
with 77, which ctest reports as skipped, where there is no NVRTC.
"""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "gpu"), str(ROOT / "tests" / "runtime")]
sys.dont_write_bytecode = True
import emit  # noqa: E402
import nvrtc_test  # noqa: E402

KERNELS = ["gemm_persistent", "gemm_ptr", "fa_fwd_d128"]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    worst = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # NVRTC looks for headers here, too
        for name in KERNELS:
            folder = pathlib.Path(scratch) / name
            done = emit.emit(program, name, "twill", folder)
            if done.returncode != 0:
                print(f"{name}: exit {done.returncode}\n{done.stderr}")
                return 1
            worst = max(worst, nvrtc_test.main(str(folder), str(folder / "kernel.cu")) or 0)
        os.chdir(ROOT)
    return worst


if __name__ == "__main__":
    sys.exit(main())
