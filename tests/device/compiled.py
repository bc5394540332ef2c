#!/usr/bin/env python3
"""A model under torch.compile, with TWILL=1 and without: results, time of a step, and which kernels ran. README.md says more.

Usage: compiled.py [--size small] [--json FILE]. dropin.py runs the size `brief` among its entries.

Two processes are started, alike but for their environment, with caches of their own that are empty. Inductor compiles in worker processes, as it does by
itself. Steps are timed in turns: a turn of one process, then a turn of the other. Exits with 1 if a bar of README.md is missed.
"""

import argparse
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLOWEST = 0.98  # of plain Triton's speed
MOST_ERROR = 1.1  # times plain Triton's against float32
LONGEST_FIRST = 2.0  # times plain Triton's first step, with all that is compiled and tuned
TURNS = 40
MARK = "compiled.py: "  # before what the processes tell each other

# Batch, tokens, heads of 128, whether there is an MLP, which has three products more, each with some twenty candidates.
SIZES = {"small": (1, 256, 2, True), "large": (2, 4096, 16, True), "brief": (2, 4096, 16, False)}


# ---- The process that compiles and runs the model
def model_of(heads, mlp):
    """A block of a transformer: attention by flex_attention, a product by a Triton kernel of the user's, and a gated MLP if asked for."""
    import torch
    import torch.nn.functional as functional
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from compiled_kernels import user_product

    width = 128 * heads

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
            self.out = torch.nn.Parameter(torch.randn(width, width) * width**-0.5)
            if mlp:
                self.up = torch.nn.Linear(width, 4 * width, bias=False)
                self.gate = torch.nn.Linear(width, 4 * width, bias=False)
                self.down = torch.nn.Linear(4 * width, width, bias=False)

        def forward(self, x, mask, product):
            batch, tokens, _ = x.shape
            q, k, v = self.qkv(functional.rms_norm(x, (width,))).view(batch, tokens, 3, heads, 128).permute(2, 0, 3, 1, 4)
            attended = flex_attention(q, k, v, block_mask=mask).transpose(1, 2).reshape(batch * tokens, width)
            x = x + product(attended, self.out).view(x.shape)
            y = functional.rms_norm(x, (width,))
            return x + (self.down(functional.silu(self.gate(y)) * self.up(y)) if mlp else functional.silu(y))

    def causal(b, h, q, k):
        return q >= k

    return Block, lambda tokens: create_block_mask(causal, None, None, tokens, tokens, device="cuda"), user_product


def kernels_of(step, steps=5):
    """Microseconds of a step by kernel, as PyTorch's profiler sees them: a ratio that is not 1 then has a name. {} where it sees nothing."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    try:
        with profile(activities=[ProfilerActivity.CUDA]) as found:
            for _ in range(steps):
                step()
            torch.cuda.synchronize()
        return {event.key[:100]: event.self_device_time_total / steps for event in found.key_averages() if event.self_device_time_total > 0}
    except Exception as wrong:
        return {f"no profile: {type(wrong).__name__}": 0.0}


def child(size, results):
    """Compiles, answers "ready", and times a turn for each line of its input; the last line asks for the report."""
    import torch
    import torch._inductor.config as config

    batch, tokens, heads, mlp = SIZES[size]
    config.max_autotune_gemm_backends = "TRITON"
    block, mask_of, user_product = model_of(heads, mlp)
    torch.manual_seed(0)
    model = block().cuda().half()
    x = torch.randn(batch, tokens, 128 * heads, device="cuda").half()
    mask = mask_of(tokens)
    with torch.no_grad():
        exact = copy.deepcopy(model).float()(x.float(), mask, torch.matmul).cpu()
    step = torch.compile(model, mode="max-autotune-no-cudagraphs", dynamic=False)
    began = time.monotonic()
    with torch.no_grad():
        y = step(x, mask, user_product)
        torch.cuda.synchronize()
        first = time.monotonic() - began
        twill = "TWILL" in os.environ
        if twill:
            import twill_gpu
            twill_gpu.wait()
        for _ in range(20):
            y = step(x, mask, user_product)
        torch.cuda.synchronize()
        torch.save((y.float().cpu(), exact), results)
        say(first_s=first)
        for line in sys.stdin:
            if line.strip() == "end":
                break
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(10):
                step(x, mask, user_product)
            stop.record()
            stop.synchronize()
            say(ms=start.elapsed_time(stop) / 10)
        kernels = kernels_of(lambda: step(x, mask, user_product))
    rows = twill_gpu.report() if twill else []
    say(report=str(rows), races=sum(type(row).__name__ == "Race" for row in rows), kernels=kernels)


# ---- The process that compares both
def installed(folder):
    """A folder to import from, in which Triton finds the package as if pip had installed it."""
    about = pathlib.Path(folder) / "installed" / "twill_gpu-0.1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: twill-gpu\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[triton.backends]\ntwill = twill_gpu.plugin\n")
    return str(about.parent)


def started(side, size, folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("TWILL", "TWILL_INDUCTOR")}
    environment |= {"TRITON_CACHE_DIR": f"{folder}/{side}/triton", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/{side}/inductor"}
    paths = [str(ROOT / "python"), installed(folder), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if side == "twill":
        environment |= {"TWILL": "1", "TWILL_INDUCTOR": "1"}
    return subprocess.Popen([sys.executable, "-B", __file__, "--child", side, "--size", size, "--results", f"{folder}/{side}.pt"], env=environment,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(f"{folder}/{side}.log", "w"), text=True)


def answer(process):
    """The next line of a process that is JSON of ours; other lines are what PyTorch prints while it tunes."""
    for line in process.stdout:
        if line.startswith(MARK):
            return json.loads(line[len(MARK):])
    log = pathlib.Path(process.args[-1]).with_suffix(".log")
    raise RuntimeError(f"a process ended early, with exit code {process.wait()}: {log.read_text()[-4000:]}")


def say(**values):
    print(MARK + json.dumps(values), flush=True)


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return answer(process)


def compare(size, seconds=600.0):
    """What was found: first steps, steps, errors and reports of both sides. Raises RuntimeError where a side ends early, or is ended after some seconds."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        row, processes = {"size": size}, {}
        clock = threading.Timer(seconds, lambda: [process.kill() for process in processes.values()])
        clock.start()
        try:
            for side in ("plain", "twill"):
                processes[side] = started(side, size, folder)
                row[f"first_{side}_s"] = answer(processes[side])["first_s"]
            times = {"plain": [], "twill": []}
            for turn in range(TURNS):
                for side in sorted(times, reverse=turn % 2 == 1):
                    times[side].append(ask(processes[side], "turn")["ms"])
            for side, process in processes.items():
                row[f"{side}_ms"] = statistics.median(times[side])
                ended = ask(process, "end")
                row[f"report_{side}"], row[f"races_{side}"], row[f"report_kernels_{side}"] = ended["report"], ended["races"], ended["kernels"]
                process.wait()
        finally:
            clock.cancel()
            for process in processes.values():
                process.kill()
                process.wait()
        for side in processes:
            result, exact = torch.load(f"{folder}/{side}.pt")
            row[f"error_{side}"] = float((result - exact).norm() / exact.norm())
    row["ratio"] = statistics.median(a / b for a, b in zip(times["plain"], times["twill"]))
    return row


def missed(row):
    """A line for each bar that is missed."""
    bars = (("no kernel raced", row["races_twill"] == 0), (f"ratio {row['ratio']:.3f} < {SLOWEST}", row["ratio"] < SLOWEST),
            (f"error {row['error_twill']:.2e}, plain {row['error_plain']:.2e}", not row["error_twill"] <= MOST_ERROR * row["error_plain"]),
            (f"first step {row['first_twill_s']:.1f} s, plain {row['first_plain_s']:.1f} s", row["first_twill_s"] > LONGEST_FIRST * row["first_plain_s"]))
    return [what for what, bad in bars if bad]


def without_reports(row):
    return {name: value for name, value in row.items() if not name.startswith("report")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=sorted(SIZES), default="large")
    parser.add_argument("--json")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--results", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.size, options.results)
    row = compare(options.size)
    print(row["report_twill"])
    kernels = [row[f"report_kernels_{side}"] for side in ("plain", "twill")]
    for name in sorted(kernels[0].keys() | kernels[1].keys(), key=lambda name: -kernels[0].get(name, 0.0)):
        print(f"{kernels[0].get(name, 0.0):9.1f} {kernels[1].get(name, 0.0):9.1f} us  {name}")
    print(json.dumps(without_reports(row), indent=2))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(row, indent=2))
    lines = missed(row)
    for line in lines:
        print("MISSED", line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
