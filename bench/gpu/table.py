"""Prints what measure.py wrote as a table: `table.py measured/h200-twill.json measured/h200-strategies.json > ../../docs/hardware.md`; its text stands here."""
import json
import sys

HEAD = """# On the hardware

Made by `bench/gpu/table.py` from what `bench/gpu/measure.py` measured; the sentences are part of that program. Device, date and
toolchain: {device}, {date}, PyTorch {torch}, CUDA {cuda}, Triton 3.6.0, nvcc of that CUDA for our kernels, driver 580.159.04.

Everybody in a table got the same random inputs in one run and took turns; a figure is the median of the turns. *Burst* is 20 ms
after a rest of 0.25 s; *sustained* is half a second on end on a warm card, which then runs at its power limit of 700 W, so its clock
says as much as its time. The last two columns are ours over the library: cuBLAS as `torch.matmul` calls it, cuDNN attention
through PyTorch. The same program measured twice differs by 1 to 2 %. Who comes after a provider that leaves the card cool (a slow one)
gains a few percent more: the second table has such neighbours, the first has not.

Before that, in the same session, `check.py` compared each of 68 emitted kernels (10 kernels, five strategies, fp16; two strategies, bf16)
with float64 at 4 to 13 sizes, odd ones and empty loops among them: the largest relative errors are 2.9e-4 (fp16) and 2.3e-3
(bf16), the rounding of the outputs. 10,000 launches back to back for `twill` and 200 for the others gave the same bits.
compute-sanitizer (memcheck, synccheck, racecheck; five kernels, small sizes) found nothing but races that racecheck reports in
`gemm_rowsum`, strategy twill: writes and reads of the buffers in which values cross roles. There a warp's lanes write, `__syncwarp`, and
one lane arrives at the barrier for all, as the memory model allows. The same kernel, changed by hand so that every lane arrives for
itself, has no such report: racecheck does not see the order that `__syncwarp` makes.
"""

NOTES = """
## What was learned

| step | expected | measured |
|---|---|---|
| persistent tiles in an L2-aware order, ring as deep as memory allows, output through TMA; no clusters | 0.92 to 0.94 of cuBLAS, the step of a public ladder of hand-written kernels | 1.00 to 1.03 from 4096 on, 0.99 in the second table |
| 128 x 128 tiles (`gemm_batched`, `gemm_persistent`) | 0.9 | 0.99 to 0.69: 64 bytes a cycle and SM from L2 are more than it gives; a cluster that shares loads is not emitted yet |
| dual GEMM in one kernel | more than the separate calls, by the traffic saved | 1.34 at 2048, 1.10, 1.05 at 8192. By strategy modulo: the optimum split the two products of the same rows over two groups; the rule `same-group`, which forbids it, came later |
| GEMM + row sum with a third group for the sums | 1.0 | 0.60 to 0.69; reading the tile again costs more shared memory port than the schedule's costs say: the bar is missed |
| attention, head dimension 128, joint optimum | 1.0 of cuDNN | 0.97 to 1.01 over two sources and five lengths; at 16384 0.98 and 0.995: the bar of 1.0 is missed by a little |
| the same by `modulo` | slower | 0.96: the joint optimum gains 2 % on Hopper |
| head dimension 64, joint optimum | 1.0 | 0.87 to 0.89, and `modulo` 0.98: the model ranks them the other way round |
| pinning waits behind the arithmetic they should overlap | -2 % where roles take turns | -1 %: plans whose roles take turns no longer pin |
| the wait for the second product moved behind the exponentials (by hand) | 0.8 of the cycles | 1.6 % faster: the model's picture of that loop is too good (2465 cycles simulated; about 3090 follow from the sustained TFLOPS and clock of such a run) |
| what comes after the loop computed anew there | no spills | 28 bytes of spills gone; the time moved less than it scatters |
"""


def main():
    rows, about = [], None
    for name in sys.argv[1:]:
        with open(name) as file:
            data = json.load(file)
        about = about or data
        rows.append(data["rows"])
    print(HEAD.format(**about))
    for title, part in zip(("Strategy twill and what it is measured by", "All strategies at the largest size"), rows):
        print(f"## {title}\n\n| kernel | size | who | us, sustained | TFLOPS, burst | TFLOPS, sustained | MHz | over the library, burst | sustained |")
        print("|---|---|---|---|---|---|---|---|---|")
        table = {}
        for row in part:
            table.setdefault((row["kernel"], tuple(row["size"]), row["who"]), {})[row["regime"]] = row
        best = {(kernel, size): both for (kernel, size, who), both in table.items() if who.startswith(("cublas", "cudnn"))}
        for (kernel, size, who), both in table.items():
            ratio = [both[r]["tflops"] / best[kernel, size][r]["tflops"] for r in ("burst", "sustained")]
            print(f"| {kernel} | {' x '.join(map(str, size))} | {who} | {both['sustained']['us']:.1f} | {both['burst']['tflops']:.0f} | "
                  f"{both['sustained']['tflops']:.0f} | {both['sustained']['mhz']} | {ratio[0]:.3f} | {ratio[1]:.3f} |")
        print()
    print(NOTES.strip())


if __name__ == "__main__":
    main()
