#!/usr/bin/env python3
"""Emits kernels and compiles them for sm_90a: cuda_nvcc_test.py TWILL [--bf16]

Protects: what `twill emit cuda` prints compiles, and passes the gate (nothing spilled, no wgmma serialized, overlaps as planned): the
kernels of the list by all strategies, in fp16 or in bf16; in fp16 also the other kernels, ping-pong, clusters, and kernels with one tile per CTA;
and that the gate refuses, after all its rounds, the one that ptxas spills, of which then nothing is left that could be used. Exits with 77, which ctest reports as skipped, where there is
no nvcc.
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
sys.dont_write_bytecode = True
import emit  # noqa: E402

# ptxas 13.0 spills 8 bytes in the epilogue of this kernel, with any number of registers kept free: the gate must refuse it.
REFUSED = {"gemm_bias_tt"}

LIST = ["gemm_128x128x64", "gemm_128x256x64", "gemm_persistent", "gemm_persistent_flat", "gemm_batched", "dual_gemm", "gemm_rowsum",
        "gemm_rowsum_128x256x64", "fa_fwd_d64", "fa_fwd_d128", "fa_fwd_subtiled_d64", "fa_fwd_subtiled_d128"]


def cases(bf16):
    """Kernel, strategy, and the options that the kernel is printed with."""
    found = [(name, strategy, ()) for name in LIST for strategy in emit.STRATEGIES]
    if bf16:
        return found
    found += [(name, "twill", ()) for name in emit.SOURCES if name not in LIST]
    found += [(name, "modulo", ("--cluster", "2")) for name in ("gemm_128x256x64", "gemm_batched", "dual_gemm")]
    found += [(name, "triton", ("--ping-pong",)) for name in ("gemm_128x256x64", "fa_fwd_d64", "fa_fwd_d128", "fa_fwd_subtiled_d128")]
    found += [(name, "twill", ("--cluster", "2")) for name in ("gemm_128x128x64", "gemm_rowsum", "fa_fwd_d128")]
    found += [(name, "twill", ("--tiles", "one")) for name in ("gemm_128x256x64", "gemm_batched", "gemm_ptr", "fa_fwd_d64")]
    return found + [("fa_fwd_d128", strategy, ("--tiles", "one")) for strategy in emit.STRATEGIES]


def has_nvcc():
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    return shutil.which("nvcc") or any(os.access(pathlib.Path(home) / "bin" / "nvcc", os.X_OK) for home in homes if home)


def complaint(case, bf16, scratch):
    name, strategy, options = case
    folder = pathlib.Path(scratch) / ".".join([name, strategy, *options, *(["bf16"] if bf16 else [])])
    done = emit.emit(sys.argv[1], name, strategy, folder, bf16, ["--compile", *options])
    wanted = 6 if name in REFUSED else 0
    if done.returncode != wanted:
        return f"{folder.name}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    status = json.loads((folder / "status.json").read_text())
    files = {path.name for path in folder.iterdir() if path.suffix in (".cu", ".cubin")}
    if wanted == 6:
        good = status["status"] == "refused" and any("spills" in reason for reason in status["reasons"]) and files == {"kernel.refused.cu"}
    else:
        good = status["status"] == "accepted" and files == {"kernel.cu", "kernel.cubin"}
    return "" if good else f"{folder.name}: {status} beside {sorted(files)}"


def main():
    if not has_nvcc():
        print("skipped: there is no nvcc")
        return 77
    bf16 = "--bf16" in sys.argv
    every = cases(bf16)
    with tempfile.TemporaryDirectory() as scratch:
        wrong = [text for case in every if (text := complaint(case, bf16, scratch))]
    print("\n".join(wrong) or f"{len(every)} kernels judged as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
