"""Prints docs/hardware.md, the page of results, whose text is in this file: `results.py measured > ../../docs/hardware.md`.

`measured` is the folder with the output of measure.py and timeline.py. Each kernel is taken from the run named in FAMILIES.
All runs, and their circumstances, are in docs/hardware-log.md (table.py).
"""
import json
import pathlib
import sys

import peers

HEAD = """# How fast the printed kernels are

Kernels that Twill printed as CUDA C++ ([`twill emit cuda`](reference/cuda.md)) beside the libraries and beside Triton. Kernels printed as TTGIR and
run by Triton have [a page of their own](hardware-ttgir.md). How these figures came about, all runs and all that did not help: [the log](hardware-log.md).

Written by `bench/gpu/results.py` from the measurements in `bench/gpu/measured`. One NVIDIA H200 in each run, fp16, PyTorch 2.11.0, CUDA 13.0,
Triton 3.6.0, driver 580.159.04. The kernels are those that Twill printed on the date of their run; what it prints today may be faster or slower.
Nothing has been measured on Blackwell.
"""

SUMMARY = """
## In one table

Speed of Twill's kernel over that of the library and of plain Triton, least and most over all sizes of the tables below, *sustained*: half a second on
end, on a warm card at its power limit. Above 1, Twill is faster. The library is the fastest of cuBLAS and of 32 algorithms that cublasLt offers, or
cuDNN; plain Triton is the same source compiled by Triton 3.6. The same program measured twice differs by 1 to 2 %.
"""

SLOWER = """
## Where it is slower, and why

- **Tiles of 128 x 128** reach 0.92 to 0.96 of cuBLAS. They keep the tensor core as busy as larger tiles, but read a third more from L2, so the card runs at a
  lower clock at its power limit. Take tiles of 128 x 256.
- **GEMM and row sums** with tiles of 128 x 128 adds up whole operand tiles: the additions fill the FMA pipe. No arrangement of this tile was found that reaches
  the library; tiles of 128 x 256 do.
- **Loads through pointers** are copied by a warpgroup with cp.async instead of TMA: 0.69 to 0.80 of the library, 0.93 to 1.05 of Triton.
- **Attention of head dimension 64**, and short sequences of 128, are up to 8 % below cuDNN.
- **2048 x 2048 x 2048**: 128 tiles leave no second round for 132 SMs, so nothing of the epilogue can be hidden.
"""

RIGHT = """
## Right

Every kernel was compared with float64 before it was measured. The largest relative errors are 2.9e-4 (fp16) and 2.4e-3 (bf16), the rounding of the
outputs. On 2026-11-22 all 145 kernels (13 in fp16, 16 in bf16, by five strategies) gave the same bits in 10,000 launches of strategy `twill` and 200 of each other one. The 33 kernels of
strategy `twill`, four attention kernels with one tile per CTA among them, are clean under memcheck, synccheck and racecheck. The dates, and reports that were looked into: [the log](hardware-log.md#correct).

## How good the model is

Cycles of an iteration by the SM's clock at the largest size on 2026-11-22, beside what is proven (*bound*: no schedule is faster) and what `twill simulate`
said of the plan that was printed then. Kernels of strategy `twill`; other strategies, and where the model is off: [the log](hardware-log.md#cycles-of-an-iteration).

| kernel | bound | simulated | measured | error |
|---|---|---|---|---|
"""

# Title, name of the run, kernels (name, the source), library.
FAMILIES = [
    ("GEMM, tiles of 128 x 256", "cuBLAS", [("h200-newest", "gemm_128x256x64", "a tile per program"),
                                            ("h200-flat-made-turns", "gemm_persistent_flat", "loop over tiles, flattened by Triton")]),
    ("GEMM, tiles of 128 x 128", "cuBLAS", [("h200-newest", "gemm_128x128x64", "a tile per program"), ("h200-newest", "gemm_persistent", "loop over tiles"),
                                            ("h200-newest", "gemm_batched", "batched")]),
    ("Two GEMMs of one input, gated", "cuBLAS and torch", [("h200-newest", "dual_gemm", "tiles of 128 x 128")]),
    ("GEMM and row sums", "cuBLAS and torch", [("h200-newest", "gemm_rowsum_128x256x64", "tiles of 128 x 256"),
                                               ("h200-newest", "gemm_rowsum", "tiles of 128 x 128")]),
    ("GEMM and convolution through pointers", "cuBLAS, cuDNN", [("h200-pointers", "gemm_ptr", "GEMM, tiles of 128 x 128"),
                                                                ("h200-pointers", "conv2d", "3 x 3 convolution")]),
    ("Attention forward, head dimension 128", "cuDNN", [("h200-newest", "fa_fwd_d128", "descriptors from the host"),
                                                        ("h200-newest", "fa_fwd_subtiled_d128", "cut in two by the source"),
                                                        ("h200-flat-made-turns", "fa_fwd_made_d128", "descriptors made in the kernel")]),
    ("Attention forward, head dimension 64", "cuDNN", [("h200-newest", "fa_fwd_d64", "descriptors from the host"),
                                                       ("h200-newest", "fa_fwd_subtiled_d64", "cut in two by the source")]),
]


def rows_of(data, run, kernel):
    """By size: TFLOPS and microseconds of Twill's kernel, and its ratios over the library and over Triton, each burst and sustained."""
    found = [row for row in data[run]["rows"] if row["kernel"] == kernel]
    library = peers.best_libraries(found)
    for size in dict.fromkeys(tuple(row["size"]) for row in found):
        at = {(row["who"], row["regime"]): row for row in found if tuple(row["size"]) == size}
        ours = {regime: at["twill:twill", regime] for regime in ("burst", "sustained")}
        triton = {regime: at.get(("triton-3.6", regime)) for regime in ours}
        yield {"size": size, "us": ours["sustained"]["us"], "tflops": [ours[it]["tflops"] for it in ours],
               "library": [ours[it]["tflops"] / library[kernel, size, it] for it in ours],
               "triton": [ours[it]["tflops"] / triton[it]["tflops"] if triton[it] else None for it in ours]}


def span(figures):
    figures = [it for it in figures if it is not None]
    if not figures:
        return "-"
    least, most = f"{min(figures):.2f}", f"{max(figures):.2f}"
    return least if least == most else f"{least} to {most}"


def pair(figures, form):
    return " / ".join("-" if it is None else form.format(it) for it in figures)


def summary(data):
    print("| kernel | source | over the library | over plain Triton | measured |\n|---|---|---|---|---|")
    for title, library, kernels in FAMILIES:
        for run, kernel, source in kernels:
            rows = list(rows_of(data, run, kernel))
            print(f"| {title} | {source} | {span(row['library'][1] for row in rows)} x {library} | {span(row['triton'][1] for row in rows)} | "
                  f"{data[run]['device'].removeprefix('NVIDIA ')}, {data[run]['date']} |")


def family(data, title, library, kernels):
    print(f"\n## {title}\n\nBurst / sustained; a burst is 20 ms after a rest. Time is sustained.\n")
    print(f"| source | size | us | TFLOPS | over {library} | over plain Triton |\n|---|---|---|---|---|---|")
    for run, kernel, source in kernels:
        for row in rows_of(data, run, kernel):
            print(f"| {source} | {' x '.join(map(str, row['size']))} | {row['us']:.1f} | {pair(row['tflops'], '{:.0f}')} | "
                  f"{pair(row['library'], '{:.3f}')} | {pair(row['triton'], '{:.2f}')} |")
            source = ""


def cycles(rows):
    kernels = {}
    for row in rows:
        if row["role"] != "LOAD" and row["kernel"].endswith(".twill"):
            kernels.setdefault(row["kernel"].removesuffix(".twill"), []).append(row)
    for name, roles in kernels.items():
        measured, model = max(row["iteration"] for row in roles), roles[0]["model"]
        print(f"| {name} | {model['fastest']} | {model['simulated']:.0f} | {measured:.0f} | {100 * (model['simulated'] / measured - 1):+.1f} % |")


def main():
    folder = pathlib.Path(sys.argv[1])
    runs = dict.fromkeys(run for _, _, kernels in FAMILIES for run, _, _ in kernels)
    data = {run: json.loads((folder / f"{run}.json").read_text()) for run in runs}
    print(HEAD + SUMMARY)
    summary(data)
    print(SLOWER.rstrip())
    for it in FAMILIES:
        family(data, *it)
    print(RIGHT.rstrip())
    cycles(json.loads((folder / "h200-cycles.json").read_text()))


if __name__ == "__main__":
    main()
