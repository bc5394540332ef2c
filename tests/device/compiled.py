#!/usr/bin/env python3
"""A model under torch.compile, with TWILL=1 and without: results, time of a step, and the kernels that ran. README.md says more.

Usage: compiled.py [--size small] [--share] [--again] [--json FILE]. dropin.py runs the size `brief` among its entries.

The processes differ only in their environment, and have empty caches of their own. Inductor compiles in worker processes, as it does by
itself. Steps are timed in turns: a turn of one process, then a turn of the other. Exits with 1 if a bar of README.md is missed.

--share: the drop-in's process begins with the choices of the other process's autotuner, so that both have the same kernels and the rest of a
ratio is the drop-in's. --again: a second process of plain Triton's, whose ratio shows how far an autotuner's choices differ between processes.
"""

import argparse
import copy
import gc
import hashlib
import json
import os
import pathlib
import re
import shutil
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
HOST_ROUNDS = 20
MARK = "compiled.py: "  # before lines between processes

# Batch, tokens, heads of 128, and whether there is an MLP, which has three more products, each with some twenty candidates.
SIZES = {"small": (1, 256, 2, True), "large": (2, 4096, 16, True), "brief": (2, 4096, 16, False)}


# ---- The process that compiles and runs the model
def model_of(heads, mlp):
    """A block of a transformer: attention by flex_attention, a product by a Triton kernel of the user's, and a gated MLP on request."""
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
    """Microseconds of a step by kernel, from PyTorch's profiler, to explain a ratio that is not 1. {} if it sees no kernel."""
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


def digest_of(folder):
    """Digest of a kernel's PTX in Triton's cache, without the places of its source, which lies in another folder for each process."""
    files = list(pathlib.Path(folder).glob("*.ptx"))
    if not files:
        return "no file"
    lines = [line for line in files[0].read_text().split(".section")[0].splitlines() if line.strip() and not line.lstrip().startswith((".loc", ".file", "//", "$L__tmp"))]
    return hashlib.sha256("\n".join(line.split("//")[0] for line in lines).encode()).hexdigest()[:12]


def codes_of():
    """By name of each kernel of Inductor's: its options, a digest of its code, and its launcher."""
    import triton
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    found = {}
    gc.collect()  # candidates that are no longer used
    for kernel in [thing for thing in gc.get_objects() if type(thing) is CachingAutotuner and len(thing.launchers) == 1]:
        launcher = kernel.launchers[0]
        owner = "Inductor" if getattr(launcher, "_is_static", False) else "either" if "short" in launcher.__globals__ else "Triton"
        tile = " ".join(re.findall(r"\b(?:BLOCK_\w+|GROUP_M) : tl.constexpr = (\d+)", str(getattr(kernel.fn, "src", ""))))
        found[kernel.fn.__name__] = {"options": f"{tile} {launcher.config}", "by": owner,
                                     "code": digest_of(f"{triton.knobs.cache.dir}/{launcher.cache_hash}")}
    return found


def host_us(step, steps=10):
    """Microseconds that the host takes for a step, while the GPU is kept busy."""
    import torch

    torch.cuda.synchronize()
    torch.cuda._sleep(100_000_000)
    at = time.perf_counter()
    for _ in range(steps):
        step()
    took = (time.perf_counter() - at) / steps
    torch.cuda.synchronize()
    return 1e6 * took


def child(size, results):
    """Compiles, prints "ready", and times a turn for each line of its input; the last line requests the report."""
    import torch
    import torch._inductor.config as config
    import torch.utils._triton

    # Inductor keeps its choices by the source of its kernels, which contains the backend's key: one key for all processes lets them share choices.
    real = torch.utils._triton.triton_hash_with_backend
    torch.utils._triton.triton_hash_with_backend = lambda: real() and "compiled.py"

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
            if line.strip() == "host":
                say(us=host_us(lambda: step(x, mask, user_product)))
                continue
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(10):
                step(x, mask, user_product)
            stop.record()
            stop.synchronize()
            say(ms=start.elapsed_time(stop) / 10)
        kernels = kernels_of(lambda: step(x, mask, user_product))
    rows = twill_gpu.report() if twill else []
    say(report=str(rows), races=sum(type(row).__name__ == "Race" for row in rows), kernels=kernels, codes=codes_of())


# ---- The process that compares both
def installed(folder):
    """A folder to import from, in which Triton finds the package as if pip had installed it."""
    about = pathlib.Path(folder) / "installed" / "twill_gpu-0.1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: twill-gpu\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[triton.backends]\ntwill = twill_gpu.plugin\n")
    return str(about.parent)


def inductor_folder(folder, side):
    return f"{folder}/{side}/inductor"


def share_choices(folder, side):
    """Passes the choices of plain Triton's process to another: its measurements of templates, and the configurations of other kernels."""
    theirs, its = pathlib.Path(inductor_folder(folder, "plain")), pathlib.Path(inductor_folder(folder, side))
    for file in [*theirs.glob("cache/*"), *theirs.rglob("*.best_config")]:
        if file.is_file():
            to = its / file.relative_to(theirs)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)


def started(side, size, folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("TWILL", "TWILL_INDUCTOR")}
    environment |= {"TRITON_CACHE_DIR": f"{folder}/{side}/triton", "TORCHINDUCTOR_CACHE_DIR": inductor_folder(folder, side)}
    paths = [str(ROOT / "python"), installed(folder), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if side == "twill":
        environment |= {"TWILL": "1", "TWILL_INDUCTOR": "1"}
    return subprocess.Popen([sys.executable, "-B", __file__, "--child", side, "--size", size, "--results", f"{folder}/{side}.pt"], env=environment,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(f"{folder}/{side}.log", "w"), text=True)


def answer(process):
    """The next line of a process that is this script's JSON; other lines come from PyTorch while it tunes."""
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


def compare(size, seconds=600.0, share=False, again=False):
    """The findings: first steps, steps, errors and reports of all sides. Raises RuntimeError if a side ends early, or is ended after some seconds."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        row, processes = {"size": size, "shared": share}, {}
        clock = threading.Timer(seconds, lambda: [process.kill() for process in processes.values()])
        clock.start()
        try:
            for side in ("plain", "twill", "again")[:3 if again else 2]:
                if share and side == "twill":
                    share_choices(folder, side)
                processes[side] = started(side, size, folder)
                row[f"first_{side}_s"] = answer(processes[side])["first_s"]
            times = in_turns(processes, TURNS, "turn", "ms")
            host = in_turns(processes, HOST_ROUNDS, "host", "us")
            for side, process in processes.items():
                row[f"{side}_ms"], row[f"host_{side}_us"] = statistics.median(times[side]), statistics.median(host[side])
                ended = ask(process, "end")
                row[f"report_{side}"], row[f"races_{side}"] = ended["report"], ended["races"]
                row[f"report_kernels_{side}"], row[f"report_codes_{side}"] = ended["kernels"], ended["codes"]
                process.wait()
        finally:
            clock.cancel()
            for process in processes.values():
                process.kill()
                process.wait()
        for side in processes:
            result, exact = torch.load(f"{folder}/{side}.pt")
            row[f"error_{side}"] = float((result - exact).norm() / exact.norm())
    row["ratio"], row["host_more_us"] = beside_plain(times, host, "twill")
    if again:
        row["ratio_again"], row["host_again_more_us"] = beside_plain(times, host, "again")
    return row


def in_turns(processes, rounds, line, name):
    """The answer of each process to a line, in rounds whose order alternates."""
    found = {side: [] for side in processes}
    for number in range(rounds):
        for side in sorted(found, reverse=number % 2 == 1):
            found[side].append(ask(processes[side], line)[name])
    return found


def beside_plain(times, host, side):
    """Plain Triton's time of a step over a side's, and additional microseconds of the host for a step: medians over rounds."""
    return (statistics.median(a / b for a, b in zip(times["plain"], times[side])),
            statistics.median(b - a for a, b in zip(host["plain"], host[side])))


def missed(row):
    """A line for each bar that is missed."""
    bars = (("no kernel raced", row["races_twill"] == 0), (f"ratio {row['ratio']:.3f} < {SLOWEST}", row["ratio"] < SLOWEST),
            (f"error {row['error_twill']:.2e}, plain {row['error_plain']:.2e}", not row["error_twill"] <= MOST_ERROR * row["error_plain"]),
            (f"first step {row['first_twill_s']:.1f} s, plain {row['first_plain_s']:.1f} s",
             not row["shared"] and row["first_twill_s"] > LONGEST_FIRST * row["first_plain_s"]))
    return [what for what, bad in bars if bad]


def table_of(row, sides):
    """A line for each kernel: microseconds of a step by side, digests of each side's code with its launcher, and its options."""
    yield " ".join(f"{side:>9}" for side in sides) + "  us of a step, code, launcher"
    times, codes = [row[f"report_kernels_{side}"] for side in sides], [row[f"report_codes_{side}"] for side in sides]
    for name in sorted(set().union(*times), key=lambda name: -times[0].get(name, 0.0)):
        found = [code.get(name) for code in codes]
        facts = "" if None in found else " ".join(f"{each['code']} ({each['by']})" for each in found) + f" {found[0]['options']}"
        yield " ".join(f"{time.get(name, 0.0):9.1f}" for time in times) + f"  {name}  {facts}"


def without_reports(row):
    return {name: value for name, value in row.items() if not name.startswith("report")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=sorted(SIZES), default="large")
    parser.add_argument("--json")
    parser.add_argument("--share", action="store_true", help="the drop-in's process has the choices of plain Triton's autotuner")
    parser.add_argument("--again", action="store_true", help="a second process of plain Triton's as well")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--results", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.size, options.results)
    row = compare(options.size, share=options.share, again=options.again)
    print(row["report_twill"])
    print("\n".join(table_of(row, [side for side in ("plain", "twill", "again") if f"{side}_ms" in row])))
    print(json.dumps(without_reports(row), indent=2))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(row, indent=2))
    lines = missed(row)
    for line in lines:
        print("MISSED", line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
