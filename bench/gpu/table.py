"""Prints docs/hardware-log.md, whose text is in this file, from the output of measure.py and timeline.py: `table.py measured >
../../docs/hardware-log.md`.

`measured` is the folder with the output of measure.py (TITLES), tasks.md, and h200-cycles.json (timeline.py, from kernels of
`emit.py --instrument sections`).
"""
import json
import pathlib
import sys

import peers

HEAD = """# On the hardware: the log

Everything that was measured on GPUs, as it was measured. The results in one page: [hardware.md](hardware.md).

Made by `bench/gpu/table.py` from what `bench/gpu/measure.py` and `timeline.py` measured; the sentences are part of that program. Device,
date and toolchain: {device}, {date}, PyTorch {torch}, CUDA {cuda}, Triton 3.6.0, nvcc of that CUDA for our kernels, driver 580.159.04.
The kernels are those that Twill printed at the time. Their schedules may have changed since then, so what it prints today may be faster
or slower.

## Correct

In the same session `check.py` compared each of 68 emitted kernels (10 kernels, five strategies, fp16; two strategies, bf16) with float64 at
4 to 13 sizes, odd ones and empty loops among them. Then followed 15 kernels that run in clusters of two, the dual GEMM of strategy twill, and by all
strategies in bf16 `fa_bwd_dq` and two products with bias and activation (`gemm_bias`, operands as they are or transposed). The largest relative
errors are 2.9e-4 (fp16) and 2.4e-3 (bf16), the rounding of the outputs. 10,000 launches back to back for `twill` and 200 for the others gave the same
bits. The four attention kernels of strategy cypress were right, but ptxas serialized their products (C7514); since plans begin their
interval where no product is in flight it does not (checked anew). GEMM and 3 x 3 convolution through pointers agree with float64 by all five
strategies in fp16 and by two in bf16, 100,000 launches of strategy twill gave the same bits, and memcheck, racecheck and synccheck found nothing in
those of strategy twill.

At the end of 2026-11-22, with everything that is printed now, all 145 were compared anew (13 kernels in fp16, 16 in bf16, five strategies
each). The largest relative errors are 2.9e-4 and 2.4e-3; 10,000 launches of strategy twill and 200 of the others gave the same bits.
synccheck found nothing in 35 of them (seven kernels in bf16, five strategies), racecheck nothing in 20.

Then all kernels of strategy twill, 13 in fp16, 16 in bf16 and four attention kernels with one tile per CTA, ran under memcheck, synccheck and
racecheck (`check.py --sanitizer`, four sizes each): all 33 clean under all three. The four with one tile per CTA, and those of strategy modulo,
agree with float64 like the persistent ones.

On 2026-11-23 the same was done for what is printed since: a loop over tiles that Triton flattened and attention that makes its descriptors (five
strategies fp16, two bf16), and strategy triton with turns; all 25 agree with float64 (2.9e-4, 2.3e-3), 10,000 launches of strategy twill and 200
of the others gave the same bits, and eight of them were clean under memcheck, synccheck and racecheck.

On 2026-11-24 all 16 kernels of strategy twill in fp16, as they are printed with the host's side that takes empty tensors, agree with float64
at the small sizes (2.8e-4), with 100,000 launches alike; so does `fa_fwd_d128` with 8, 16, 24 and 32 spare registers, which computed NaN until the
executor of printed kernels found why.

compute-sanitizer was run on 2026-11-21 (memcheck, synccheck, racecheck; five kernels, small sizes) and found nothing but races that racecheck
reports in `gemm_rowsum`, strategy twill: writes and reads of the buffers in which values cross roles. There a warp's lanes write, `__syncwarp`,
and one lane arrives at the barrier for all, as the memory model allows. The same kernel, changed by hand so that every lane arrives for
itself, has no such report: racecheck does not see the order that `__syncwarp` makes. On 2026-11-22 two kernels in clusters
(`gemm_128x256x64`, `fa_fwd_d128`) were clean under memcheck and synccheck, and `fa_bwd_dq` and `gemm_bias_tt` under racecheck.
Later that day, with candidates that pay for hand-offs, `gemm_rowsum` of strategy twill hands nothing over any more: it, the same with
tiles of 128 x 256 (10,000 launches each), and two alternatives for attention were clean under all three.
Once more that day, with row sums in parts and products waited for late: fourteen kernels agree with float64 at the small sizes, four of
strategy twill in 10,000 launches back to back; `gemm_rowsum_128x256x64` and `fa_fwd_d64` are clean under all three tools,
`gemm_persistent` under memcheck and synccheck.

## Cycles of an iteration

By the SM's clock, stamped at the beginning and the end of the steady state of each role of CTA 0 (`--instrument sections`), mean over all
iterations at the largest size, the slower compute role. *Fastest* is the proven bound, *slowest* what the schedule was solved for, *expected*
and *simulated* the co-run model and `twill simulate` of the plan; the error is that of the latter.
"""

AFTER_CYCLES = """
In cycles the joint optimum is faster than `modulo` in all attention loops, by 3 to 4 % at head dimension 128 and by 2 to 11 % at 64. Every
kernel lies in its bracket. Where the model is off:

- *Row sums of attention at head dimension 64* (+21 % for `twill`). The model charges the shuffles that agree on a row sum in every
  iteration, as the TTGIR has it and Triton does it; the printed kernels add up parts and shuffle once, after the loop. Priced without them,
  the simulator was within 9 % of `twill` there, but the search then finds other optima of the same interval, which were up to 5 % slower
  (sustained, at 16384, side by side). No figure we have tells such optima apart: of four of one interval, the one expected to be fastest
  was second at head dimension 128 and last at 64. So costs stay those of the operations in the text.
- *Candidates that the simulator cannot tell apart.* Its error over the 39 rows is 11 % (root mean square), so it may only rule out what is
  simulated to take 11 % more than the fastest; among the others the co-run model decides, within its own error. On 2026-11-24, side by side at
  16384, sustained: attention that makes its descriptors at head dimension 64 has two optima, which take

  | end | scheduled | expected | simulated | measured | TFLOPS |
  |---|---|---|---|---|---|
  | fastest | 1468 | 2082 | 2068 | 2022 | 432 |
  | slowest | 3037 | 1974 | 2225 | 1867 | 452 |

  A likely cause is how ptxas mixes neighbouring steps, of which a plan knows nothing: with a stamp at each step, over which no code moves, the
  slowest end takes 2632 cycles, some 500 of them for the stamps. `gemm_rowsum_128x256x64` has two optima that are simulated at 1140.2
  and 1140.8 cycles; that of the slowest end is 2.4 % slower (604 and 619 TFLOPS at 4096), so the fastest end stands first.
- *Triton's order* in attention takes 7 to 25 % less than simulated, and not the same from run to run (2547 to 3029 at head dimension 128):
  its groups settle at one distance or another (decision 0004).
- *128 x 128 tiles* ask L2 for a third more bytes; nothing in the model knows of other SMs, or of energy (see the bars).
- *GEMM + row sum*: the additions of whole operand tiles are a saturating FMA stream, about which the model is wrong (decision 0004):
  -9 to -18 % where they bind, +10 % where the tensor core does.
- *Copies by threads* (`gemm_ptr`, `conv2d`): 1090 to 1121 cycles at first, when the four warps that copy computed every address anew. (By
  ncu, on an H100, the products waited for them most of the time.) 565 to 593 for `gemm_ptr` since each thread keeps the pointers of its
  chunks, 787 in Triton's order; 793 to 817 for `conv2d`, whose addresses do not grow evenly. Their prices in the machine description
  are from here: at least 40 bytes a cycle, and no more of shared memory's port than what TMA writes takes.

## Speed

Everybody in a table got the same random inputs in one run and took turns; a figure is the median of the turns. *Burst* is 20 ms
after a rest of 0.25 s; *sustained* is half a second on end on a warm card, which then runs at its power limit of 700 W. The clock
goes down to what the power allows, so who needs less energy wins there, not only who needs fewer cycles. The MHz are samples
every 50 ms and too coarse for cycles. The last two columns are ours over the best library call: cuBLAS as `torch.matmul` calls it or the
fastest of the 32 algorithms that cublasLt's heuristics offer (timed before), cuDNN attention through PyTorch. The same program
measured twice differs by 1 to 2 %. Who comes after a provider that leaves the card cool (a slow one) gains a few percent more: the second
table has such neighbours, the first has not.
"""

NOTES = """
## What was learned

| step | expected | measured |
|---|---|---|
| persistent tiles in an L2-aware order, ring as deep as memory allows, output through TMA | 0.92 to 0.94 of cuBLAS, the step of a public ladder of hand-written kernels | 1.00 to 1.02 of the best of cuBLAS and cublasLt from 4096 on (0.985 in the second table), 0.87 at 2048, where 128 tiles leave no second round |
| attention with one tile per CTA (`--tiles one`) | slower by what the epilogue takes, since no load runs under it | head dimension 128, sustained: `twill` 0.93 to 0.97 of cuDNN, persistent 0.96 to 1.04; but `modulo` 0.93 to 1.02, persistent 0.94 to 0.99, faster from 2048 on. Head dimension 64: from 1 % faster (16384) to 8 % slower (1024). Where the two groups settle (decision 0004) counts for more than the epilogue. Persistent stays the default |
| 128 x 128 tiles | 0.9 | 0.93 to 0.66, and yet 514 cycles an iteration of 512 on CTA 0. What was missing is the next line: 0.92 to 0.95 with it |
| a role's product waited for after the next one was started, its operands given back that much later | nothing: in the model the tensor core is never idle | 128 x 128 tiles at 16384 from 0.68 (0.64 persistent) to 0.93 (0.95), tiles of 128 x 256 unchanged, GEMM + row sum 5 % faster. Two products in a role, which already follow each other, lose half a percent, so they are left alone |
| row sums in parts: the lanes of a quad add up after the loop, not in every iteration | the shuffles' latency | attention 1 % at head dimension 128 and 2 to 3 % at 64; GEMM + row sum 0.90 to 0.93 -> 0.96 to 0.98 |
| schedules of the same interval that the search finds since it adds paths of dependences (decision 0003) | equal | beside the ones before, at 8192 and 16384: 1.5 to 2 % faster at head dimension 128 (1.041 and 1.051 of cuDNN), 2 to 3 % at 64 (1.00 to 1.015), GEMM + row sum 2 % (1.028 and 1.002). Luck, as with the alternatives: nothing in the model tells them apart |
| others again, since the search never decides what follows (decision 0003), 2026-11-23 | equal | beside the ones before, at 16384: half a percent slower at head dimension 128, 2 % faster where the kernel makes its descriptors or the source is cut in two; 64 3.5 % slower, equal in these other two. In the table of that run: 0.996 of cuDNN at 1024, 1.028 to 1.045 beyond, and 0.94 to 0.97 for 64. 19 kernels (12 fp16, 7 bf16) agree with float64, launches are alike, four are clean under all three tools |
| clusters of two, one operand by multicast | 1.05 for 128 x 128 tiles | 0.95 to 1.01 of the same kernel without, 1.06 in two bursts: the L2 serves the pairs well enough, and waiting for two CTAs' consumers costs more than the bytes. Attention with shared K and V gains 1 to 2 % sustained and loses 1 to 2 % in bursts. Measured anew for products once each waits for them late: 0.96 to 1.00 sustained, 0.92 to 1.06 in bursts. So clusters are off unless asked for |
| dual GEMM in one kernel | more than the separate calls, by the traffic saved | strategy twill 1.27 at 2048, 1.08, 1.04 at 8192; `modulo` 1.30, 1.10, 1.05: the bar of 1.05 is missed at 8192 by 1 % by the one and met by the other. Later strategy twill had 1.054 there, alternative 1 1.062; in the newest table 1.049, `modulo` 1.057 |
| GEMM + row sum, tile 128 x 128 | 1.0 | 0.59 to 0.69 with a third group for the sums, 0.67 to 0.70 without: the bar is missed. By hand, at 8192 sustained: the product alone without any sum 0.96 to 0.98; printed by `modulo` 0.685; the sums before the product of their iteration, which is waited for an iteration late, 0.73; that unrolled twice 0.77; A through registers for both 0.78; the sums by the tensor core, with a column of ones, 0.83. So no arrangement of this tile reaches 1.0 |
| GEMM + row sum, tile 128 x 256 | 1.0, half the sums a FLOP | 0.90 to 0.94, alternative 1 0.93; with the three lines above 1.10 at 2048, 1.028 at 4096, 1.000 at 8192: the bar is met. By hand, before the third: the product first, then the sums, the wait an iteration late 1.02; A through registers for both 0.94 to 0.98, so nothing is gained by it |
| attention, head dimension 128 | 1.0 of cuDNN | 0.97 at 1024, 0.99 to 1.00 beyond in the first table; in the newest 0.985 at 1024, then 1.020, 1.037, 1.042, 1.041: the same kernel on another day and beside other neighbours. From the source that is cut in two 0.94, 0.98 to 1.00. At 16384 five runs gave 0.996 to 1.006, and then 1.021: the bar of 1.0 is met or tied, that of 0.95 missed by one source at 1024. With sums in parts and the newest schedules 0.98, 1.005, 1.021, 1.026, 1.021, and in another run 1.041 and 1.051 at 8192 and 16384 |
| the same by `modulo` | slower | 6 % more cycles, and a tie sustained: both are at the power limit |
| head dimension 64 | 1.0 | 0.94 to 1.015, from the source that is cut in two 0.985 to 1.02. Before: 0.90 at 1024 to 0.975 at 16384 (0.87 to 0.89 with turns and pins); alternative 8: 0.95 to 1.02 |
| alternatives (`--alternative N`): other structures of the same interval | equal | sustained at 16384, 0.91 to 1.02 of cuDNN for head dimension 128, where none is faster than the optimum by more than measuring scatters; 0.92 to 1.01 for 64, where three of eight are faster by 2 to 4 %. Neither the co-run model nor the simulator ranks them: for 64, in cycles of an iteration, the optimum is simulated at 2104 and measured at 2104, alternative 1 2346 and 1917, alternative 8 2211 and 1951, alternative 4 1823 and 2312. Measuring a dozen takes minutes |
| turns at the tensor core (ping-pong), which the order assumes | necessary: groups that start together were seen to run 30 % slower | 2647 cycles with, 2530 without at head dimension 128; 2417 and 2074 at 64; equal once. Loads set the groups apart. Plans now have turns only where the simulated loop needs them |
| turns by Triton's ping-pong heuristics for strategy triton (`--ping-pong`), 2026-11-23 | simulated: 1 % slower at head dimension 128 | sustained, of the same kernel without: head dimension 128 0.5 to 2 % faster at every length; 64 4 % slower at 1024 and 2048, equal at 4096, 5 and 7 % faster at 8192 and 16384 (1.003 and 1.016 of cuDNN) |
| waits pinned behind the arithmetic they should overlap (a wait that is already complete ends the basic block) | ptxas keeps the overlap | 1 to 11 % slower in six of nine kernels, equal in two, 2.6 % faster in one (modulo, 64): ptxas 13.0 mixes better than the plan. Pins are only printed on request |
| the wait for the second product as late as its registers allow (by hand) | fewer stalls | 1 % faster once, 1 to 16 % slower otherwise |
| what comes after the loop computed anew there | no spills | 28 bytes of spills gone; the time moved less than it scatters |
| the interval begins where no product is in flight over the back edge of a loop (`modulo`, head dimension 64; cypress) | no C7514 | not only that: `modulo` at head dimension 64 from 0.89 to 0.99 of cuDNN at 16384, from the source that is cut in two 0.87 to 1.00 |
| GEMM and 3 x 3 convolution through pointers, tiles copied by a warpgroup with cp.async | 0.8 of cuBLAS, what Triton's kernel has | right at the first run on a GPU, and 0.45 to 0.56 of cuBLAS and cuDNN, 0.56 to 0.77 of Triton's: an iteration takes 1090 cycles of 512 |
| each thread keeps the pointers of its chunks and adds to them; chunks of a swizzle period at a time; C stored 16 bytes at a time, after the lanes of a quad exchanged columns (by hand first, 4096 on an H100: 309 TFLOPS; with pointers 471; with both 631; copies left out 721) | Triton's speed | sustained, `gemm_ptr` 0.78 to 0.84 of cuBLAS, 0.93 to 1.03 of Triton's (bursts: 0.98 to 1.10); `conv2d` 0.69 to 0.75 of cuDNN, 1.03 to 1.06 of Triton's. Tried by hand and no faster: eight warps that copy, addresses in registers of their own, other orders, prefetch of 128 or 256 bytes into L2; one arrival for two tiles: 1 to 2 % |
| a stamp at every step | 2 % | 10 to 25 %, and other code: stamps at the sections are what measures |
"""

TITLES = {"h200-newest": "Newest: strategies twill and modulo at all sizes", "h200-pointers": "Through pointers (measured later: pointers kept in registers, stores of 8 columns at once)",
          "h200-twill": "Strategy twill and what it is measured by", "h200-strategies": "All strategies at the largest size",
          "h200-dual": "Dual GEMM once its products meet in one group (measured later, after extraction was mended)",
          "h200-attention": "Attention at every length: the optimum, modulo, and the best alternatives",
          "h200-alternatives": "Alternatives (alt1, alt2, ...) at the largest size; those that cannot be printed or spill are missing",
          "h200-rowsum": "GEMM + row sum once candidates pay for hand-offs",
          "h200-flat-made-turns": "Measured later: a loop over tiles that Triton flattened, attention that makes its descriptors, and strategy triton with turns (triton-turns) and without",
          "h200-other-optima": "Attention by the optima that the search finds since it never decides consequences (decision 0003)",
          "h200-one-tile": "Attention with one tile per CTA (one) beside the persistent kernel",
          "h200-clusters": "Clusters of two (c2) beside the same kernels without (c1); products measured later than the rest"}


def cycles_table(rows):
    print("| kernel | strategy | measured | fastest | slowest | expected | simulated | error |\n|---|---|---|---|---|---|---|---|")
    kernels = {}
    for row in rows:
        if row["role"] != "LOAD":
            kernels.setdefault(row["kernel"], []).append(row)
    for label, roles in kernels.items():
        measured, model = max(row["iteration"] for row in roles), roles[0]["model"]
        name, strategy = label.split(".")
        print(f"| {name} | {strategy} | {measured:.0f} | {model['fastest']} | {model['slowest']} | {model['expected']} | {model['simulated']:.0f} | "
              f"{100 * (model['simulated'] / measured - 1):+.1f} % |")


MISSED = """
Tiles of 128 x 128 miss it by energy, not by cycles. By ncu on an H200, 8192 cubed, a launch at a time: 2.150 million cycles with the tensor
pipe active in 95.5 % of them, where tiles of 128 x 256 take 2.182 million (94.3 %) and cuBLAS' kernel, 320 x 128, 2.231 million (93.4 %). But they read
17.2 GB from L2 (it is 60 % busy) where those read 12.9 and 12.2 GB (43 and 37 %), and a product reads a fifth more operand bytes from shared
memory; so at the power limit they run at 1438 MHz, those at 1559 and 1556: 1.50 ms, 1.40 and 1.43. A persistent GEMM whose
source has tiles of 128 x 256 is at 1.008 to 1.022 (`gemm_persistent_flat`). Dual GEMM by `twill` is 0.001 short of its bar, which is
within what measuring scatters: on 2026-11-23 it had 1.048 and 1.061, and on another card 1.048 and, three copies of it in one run, 1.047 to 1.058; `modulo`
1.057 twice, 1.069, and 1.053 to 1.061. A plan without its wait in the middle of an iteration, both operands given back by one barrier, was faster on the one
card (1.072 beside 1.061) and slower on the other (1.035 to 1.045), so plans stay as they are.
"""


BARS = [("GEMM, 4096 to 16384", ["gemm_128x256x64"], 4096, 0.97),
        ("GEMM with tiles of 128 x 128: plain, persistent in the source, batched", ["gemm_128x128x64", "gemm_persistent", "gemm_batched"], 4096, 0.97),
        ("dual GEMM", ["dual_gemm"], 0, 1.05),
        ("GEMM + row sum", ["gemm_rowsum_128x256x64"], 0, 1.0), ("attention, head dimension 128, 16384", ["fa_fwd_d128", "fa_fwd_subtiled_d128"], 16384, 1.0),
        ("attention, head dimension 128, from 1024", ["fa_fwd_d128", "fa_fwd_subtiled_d128"], 0, 0.95)]


def bars_table(rows):
    """The least ratio over all sizes and sources, sustained."""
    print("### The bars, sustained, in the newest run\n\n| | bar | twill | modulo |\n|---|---|---|---|")
    best = peers.best_libraries(rows)
    for title, names, least, bar in BARS:
        def of(who):
            return min(row["tflops"] / best[row["kernel"], tuple(row["size"]), "sustained"] for row in rows
                       if row["kernel"] in names and row["who"] == who and row["regime"] == "sustained" and row["size"][-1] >= least)
        def shown(figure):
            return f"{figure:.3f}" if figure >= bar else f"{figure:.3f} (missed)"
        print(f"| {title} | {bar} | {shown(of('twill:twill'))} | {shown(of('twill:modulo'))} |")
    print(MISSED)


def speed_table(title, rows):
    print(f"### {title}\n\n| kernel | size | who | us, sustained | TFLOPS, burst | TFLOPS, sustained | MHz | over the library, burst | sustained |")
    print("|---|---|---|---|---|---|---|---|---|")
    table = {}
    for row in rows:
        table.setdefault((row["kernel"], tuple(row["size"]), row["who"]), {})[row["regime"]] = row
    best = peers.best_libraries(rows)
    for (kernel, size, who), both in table.items():
        ratio = [both[regime]["tflops"] / best[kernel, size, regime] for regime in ("burst", "sustained")]
        print(f"| {kernel} | {' x '.join(map(str, size))} | {who} | {both['sustained']['us']:.1f} | {both['burst']['tflops']:.0f} | "
              f"{both['sustained']['tflops']:.0f} | {both['sustained']['mhz']} | {ratio[0]:.3f} | {ratio[1]:.3f} |")
    print()


def main():
    folder = pathlib.Path(sys.argv[1])
    data = {name: json.loads((folder / f"{name}.json").read_text()) for name in TITLES}
    print(HEAD.format(**data["h200-twill"]))
    cycles_table(json.loads((folder / "h200-cycles.json").read_text()))
    print(AFTER_CYCLES)
    bars_table(data["h200-newest"]["rows"])
    for name, title in TITLES.items():
        speed_table(title, data[name]["rows"])
    print(NOTES.strip())
    print("\n" + (folder / "tasks.md").read_text().strip())


if __name__ == "__main__":
    main()
