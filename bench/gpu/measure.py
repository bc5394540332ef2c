"""Measures emitted kernels beside the libraries, all in one run: `measure.py FOLDER [--only REGEX] [--json FILE]`.

Sizes for which FILE already has all kernels of a name are not measured again, so an interrupted run goes on; delete the file
to begin anew. The last figure of a row is its speed over that of the library. All kernels get the same inputs, take turns, and
are measured for a while each turn; the median over the turns counts. Burst: 20 ms after a quarter of a second of rest.
Sustained: half a second on end, twice, after a warm-up of the whole round. Clock and power are sampled meanwhile.
"""
import argparse
import pathlib
import statistics
import subprocess
import threading
import time

import torch

import kernels
import peers
import rows

ATTENTION = [(16, 16, 1024), (16, 16, 2048), (8, 16, 4096), (4, 16, 8192), (2, 16, 16384)]
SQUARE = [(n, n, n) for n in (2048, 4096, 8192, 16384)]
SIZES = {
    "gemm_128x128x64": SQUARE, "gemm_128x256x64": SQUARE, "gemm_persistent": SQUARE, "gemm_persistent_flat": SQUARE, "dual_gemm": SQUARE[:3], "gemm_rowsum": SQUARE[:3],
    "gemm_rowsum_128x256x64": SQUARE[:3],
    "gemm_ptr": SQUARE[:3], "conv2d": [(32, 56, 56, 256, 256), (32, 28, 28, 512, 512), (32, 14, 14, 1024, 1024)],
    "gemm_bias_nn": SQUARE[:3], "gemm_bias_tt": SQUARE[:3], "fa_bwd_dq": [(2, 16, 2048)],
    "gemm_batched": [(16, 2048, 2048, 2048), (8, 4096, 4096, 4096)],
    "fa_fwd_d64": ATTENTION, "fa_fwd_d128": ATTENTION, "fa_fwd_made_d64": ATTENTION, "fa_fwd_made_d128": ATTENTION,
    "fa_fwd_subtiled_d64": ATTENTION, "fa_fwd_subtiled_d128": ATTENTION,
}


class Sampler:
    """Samples clock (MHz) and power (W) during its lifetime."""

    def __enter__(self):
        self.values = []
        self.process = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "-lms", "50"],
            stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        return self

    def read(self):
        for line in self.process.stdout:
            try:
                self.values.append(tuple(float(x) for x in line.split(",")))
            except ValueError:
                pass

    def __exit__(self, *_):
        self.process.kill()

    def medians(self):
        return [round(statistics.median(v[i] for v in self.values)) if self.values else 0 for i in (0, 1)]


def seconds_per_call(call, duration):
    """Mean time of back-to-back calls over about this many seconds."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call()
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    count = max(3, int(duration * 1e3 / max(start.elapsed_time(end), 1e-3)))
    start.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3 / count


def measure(name, size, group, turns):
    """Rows of one problem: Twill's kernels and the libraries."""
    problem = group[0].make(size, group[0].dtype, peers=True)
    calls = dict(problem.peers)
    for kernel in group:
        calls[f"twill:{kernel.strategy}"] = lambda kernel=kernel: kernel.launch(problem)
    measured = []
    for regime, duration in (("burst", 0.02), ("sustained", 0.5)):
        times = {who: [] for who in calls}
        clocks = {who: (0, 0) for who in calls}
        for call in calls.values():
            seconds_per_call(call, 0.02 if regime == "burst" else 0.3)
        for _ in range(turns if regime == "burst" else 2):
            for who, call in calls.items():
                if regime == "burst":
                    time.sleep(0.25)
                with Sampler() as sampler:
                    times[who].append(seconds_per_call(call, duration))
                clocks[who] = sampler.medians()
        for who in calls:
            seconds = statistics.median(times[who])
            measured.append(dict(kernel=name, dtype=str(group[0].dtype)[6:], size=list(size), who=who, regime=regime, us=seconds * 1e6,
                             tflops=problem.flops / seconds / 1e12, mhz=clocks[who][0], watts=clocks[who][1]))
    return measured


def show(measured):
    best = peers.best_libraries(measured)
    for row in measured:
        ratio = row["tflops"] / best.get((row["kernel"], tuple(row["size"]), row["regime"]), row["tflops"])
        print(f"{row['kernel']:22} {row['dtype']:9} {'x'.join(map(str, row['size'])):18} {row['regime']:9} {row['who']:16} "
              f"{row['us']:10.1f} us {row['tflops']:7.1f} TFLOPS {ratio:6.3f}  {row['mhz']} MHz {row['watts']} W", flush=True)


def session():
    """Facts that all rows of a file share."""
    return dict(device=torch.cuda.get_device_name(), torch=torch.__version__, cuda=torch.version.cuda)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--sizes", type=int, help="only so many sizes of each kernel, the largest last")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    here = session()
    measured = rows.read(options.json, here)
    groups = {}
    for kernel in kernels.build(options.folder, options.only):
        groups.setdefault((kernel.name, str(kernel.dtype)[6:]), []).append(kernel)
    for (name, dtype), group in groups.items():
        for size in SIZES[name][-options.sizes if options.sizes else None:]:
            if rows.are_there(measured, name, dtype, size, [kernel.strategy for kernel in group]):
                continue
            part = measure(name, size, group, options.turns)
            show(part)
            measured = rows.without(measured, name, dtype, size) + part
            if options.json:
                rows.write(options.json, here, measured)


if __name__ == "__main__":
    main()
