#!/usr/bin/env python3
"""Plain Triton against the drop-in on a Hopper GPU, with unmodified kernels. README.md says what is run.

Usage: dropin.py [--json FILE] [--only WORD] [--seconds N] [--decide race|always]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
for folder in ("python", "kernels", *(f"kernels/{name}" for name in ("fa_fwd", "fa_fwd_causal", "fa_simple", "gemm", "gemm_persistent"))):
    sys.path.insert(0, str(ROOT / folder))
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="twill-dropin-"))

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

import fa_fwd  # noqa: E402
import fa_fwd_causal  # noqa: E402
import gemm  # noqa: E402
import twill_gpu  # noqa: E402

SLOWEST = 0.98  # of plain Triton's speed, beyond which a case fails
TURNS = 6
TURN_SECONDS = 0.024


@triton.autotune([triton.Config({"BM": m, "BN": n, "BK": 64}, num_warps=w, num_stages=s) for m, n, w, s in
                  ((128, 128, 4, 4), (128, 256, 8, 3), (64, 256, 4, 4))], key=["M", "N", "K"])
@triton.jit
def tuned_gemm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for first in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (first + k)[None, :])
        b = tl.load(b_ptr + (first + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))


@dataclasses.dataclass
class Case:
    """A kernel with its inputs: launch() fills `outputs`; flop of a launch; reference() in float64, or None where too large."""

    name: str
    launch: object
    outputs: list
    flop: float
    reference: object = None


def described(tensor, *block):
    return TensorDescriptor.from_tensor(tensor, list(block))


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def gemm_case(m, n, k, bm, bn, warps, stages):
    a, b, c = random(m, k), random(n, k), torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
    grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))

    def launch():
        gemm.gemm_tma[grid](described(a, bm, 64), described(b, bn, 64), described(c, bm, bn), k, BM=bm, BN=bn, BK=64, WS=False,
                            num_warps=warps, num_stages=stages)
    check = (lambda: [a.double() @ b.double().T]) if m * n * k <= 2**33 else None
    return Case(f"gemm tma {bm}x{bn} {m}x{n}x{k}", launch, [c], 2.0 * m * n * k, check)


def pointer_gemm_case(m, n, k):
    a, b, c = random(m, k), random(k, n), torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 128), )

    def launch():
        gemm.gemm_ptr[grid](a, b, c, m, n, k, k, n, n, BM=128, BN=128, BK=64, GROUP=8, num_warps=8, num_stages=3)
    return Case(f"gemm pointers {m}x{n}x{k}", launch, [c], 2.0 * m * n * k, None)


def tuned_case(size):
    a, b, c = random(size, size), random(size, size), torch.full((size, size), float("nan"), device="cuda", dtype=torch.float16)

    def launch():
        tuned_gemm[lambda meta: (size // meta["BM"], size // meta["BN"])](a, b, c, size, size, size)
    return Case(f"autotuned gemm {size}", launch, [c], 2.0 * size**3, None)


def attention_case(tokens, heads, d, bm=128, warps=8):
    q, k, v = (random(heads * tokens, d) for _ in range(3))
    o = torch.full_like(q, float("nan"))
    lse = torch.full((heads * tokens, ), float("nan"), device="cuda")

    def launch():
        fa_fwd.fa_fwd[(tokens // bm, heads)](described(q, bm, d), described(k, 128, d), described(v, 128, d), described(o, bm, d), lse,
                                             d**-0.5, tokens, BM=bm, BN=128, D=d, WS=False, num_warps=warps, num_stages=3)

    def reference():
        qf, kf, vf = (t.view(heads, tokens, d).double() for t in (q, k, v))
        return [(torch.softmax(qf @ kf.transpose(-1, -2) * d**-0.5, -1) @ vf).view_as(q)]
    return Case(f"attention d{d} {heads}x{tokens}", launch, [o, lse], 4.0 * heads * tokens**2 * d, reference if tokens <= 1024 else None)


def causal_case(tokens, heads, d=128):
    q, k, v = (random(heads * tokens, d) for _ in range(3))
    o = torch.full_like(q, float("nan"))

    def launch():
        fa_fwd_causal.fa_fwd_causal[(tokens // 128, heads)](described(q, 128, d), described(k, 128, d), described(v, 128, d),
                                                            described(o, 128, d), d**-0.5, tokens, BM=128, BN=128, D=d, num_warps=8, num_stages=3)
    return Case(f"causal attention d{d} {heads}x{tokens}", launch, [o], 2.0 * heads * tokens**2 * d, None)


def cases():
    """Builders, so that only one case's tensors are there at a time."""
    return [lambda: attention_case(16384, 8, 128), lambda: attention_case(4096, 32, 128), lambda: attention_case(1024, 64, 128),
            lambda: attention_case(4096, 32, 64), lambda: causal_case(4096, 32), lambda: gemm_case(4096, 4096, 4096, 128, 256, 8, 3),
            lambda: gemm_case(8192, 8192, 8192, 128, 256, 8, 3), lambda: gemm_case(4096, 4096, 4096, 128, 128, 4, 4),
            lambda: gemm_case(1024, 1024, 512, 128, 128, 4, 4), lambda: gemm_case(3000, 2000, 1000, 128, 256, 8, 3),
            lambda: pointer_gemm_case(4096, 4096, 4096), lambda: tuned_case(4096)]


def first_launch(case):
    """Seconds of a launch with compilation, and what it left in memory."""
    for output in case.outputs:
        output.fill_(float("nan"))
    at = time.perf_counter()
    case.launch()
    torch.cuda.synchronize()
    return time.perf_counter() - at, [output.clone() for output in case.outputs]


def turn(launch, launches):
    """Seconds of a launch, by events."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(launches):
        launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches


def host_seconds(launch, launches=300):
    """Seconds that the host takes for a launch, while the GPU is kept busy."""
    torch.cuda.synchronize()
    torch.cuda._sleep(200_000_000)
    at = time.perf_counter()
    for _ in range(launches):
        launch()
    took = (time.perf_counter() - at) / launches
    torch.cuda.synchronize()
    return took


def same_bits(left, right):
    return all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(left, right))


def error_of(case, outputs):
    if case.reference is None:
        return None
    expected = case.reference()[0]
    return float((outputs[0].double() - expected).norm() / expected.norm())


def run_case(case, decide):
    """One row of the table."""
    plain_first, plain = first_launch(case)
    with twill_gpu.enabled(decide=decide):
        twill_first, ours = first_launch(case)
    with twill_gpu.enabled(decide="always"):
        _, forced = first_launch(case)
    launches = max(1, int(TURN_SECONDS / turn(case.launch, 3)))
    took = {"plain": [], "dropin": []}
    for number in range(TURNS + 1):
        for side in (("plain", "dropin"), ("dropin", "plain"))[number % 2]:
            if side == "plain":
                seconds = turn(case.launch, launches)
            else:
                with twill_gpu.enabled(decide=decide):
                    seconds = turn(case.launch, launches)
            if number:
                took[side].append(seconds)
    speed = {side: case.flop / sorted(seconds)[TURNS // 2] * 1e-12 for side, seconds in took.items()}
    return {"case": case.name, "plain_tflops": speed["plain"], "dropin_tflops": speed["dropin"], "ratio": speed["dropin"] / speed["plain"],
            "bits": same_bits(plain, ours), "bits_forced": same_bits(plain, forced), "error_plain": error_of(case, plain),
            "error_forced": error_of(case, forced), "first_plain_s": plain_first, "first_dropin_s": twill_first}


def repeats(case, launches=2000):
    """Launches of Twill's kernel that left other bits than the first one."""
    differ = 0
    with twill_gpu.enabled(decide="always"):
        _, first = first_launch(case)
        for _ in range(launches // 100):
            for _ in range(100):
                case.launch()
            differ += not same_bits(first, case.outputs)
    return differ


def graph(case):
    """Whether a captured launch, replayed, leaves what an eager one does; the first launch of this process may be the capture's."""
    with twill_gpu.enabled():
        _, eager = first_launch(case)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            case.launch()
        for output in case.outputs:
            output.fill_(float("nan"))
        captured.replay()
        torch.cuda.synchronize()
        return same_bits(eager, case.outputs)


def undecided_graph(case):
    """An undecided race in a capture: it must be Triton's launch, right, and left undecided."""
    with twill_gpu.enabled(cache=False):
        case.launch()  # compiled; with the launcher's decision for these sizes
        races = len(twill_gpu.report().races)
        for function in (gemm.gemm_tma, fa_fwd.fa_fwd):
            for caches in function.device_caches.values():
                for kernel in caches[0].values():
                    getattr(kernel.run, "_decided", {}).clear()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            case.launch()
        captured.replay()
        torch.cuda.synchronize()
        return len(twill_gpu.report().races) == races


def streams_and_threads(case):
    """Whether four threads, each on its stream, all with first launches, leave the bits of one launch."""
    _, expected = first_launch(case)

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            case.launch()
        torch.cuda.synchronize()
    with twill_gpu.enabled(decide="always", spare_registers=(0, 8)):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    torch.cuda.synchronize()
    return same_bits(expected, case.outputs)


def host_in_turns(launch):
    """Microseconds that the host takes for a launch, medians of turns: the host itself gets slower while a process runs."""
    took = {"plain": [], "race": [], "always": []}
    for turn in range(TURNS + 1):
        for decide, turns in took.items():
            with contextlib.nullcontext() if decide == "plain" else twill_gpu.enabled(decide=decide):
                launch()
                seconds = host_seconds(launch)
            if turn > 0:
                turns.append(1e6 * seconds)
    return {f"{decide}_us": statistics.median(turns) for decide, turns in took.items()}


def checks():
    case = attention_case(1024, 64, 128)
    host = host_in_turns(gemm_case(256, 256, 128, 128, 128, 4, 4).launch)
    return {"differing_of_2000_attention": repeats(case), "differing_of_2000_gemm": repeats(gemm_case(2048, 2048, 2048, 128, 256, 8, 3)),
            "graph": graph(case), "undecided_graph": undecided_graph(case), "threads": streams_and_threads(case), "host": host}


def failures(rows, found):
    for row in rows:
        if row["ratio"] < SLOWEST:
            yield f"{row['case']}: {row['ratio']:.3f} of plain Triton's speed"
        if not row["bits"] and not row["bits_forced"] and row["error_forced"] is not None and row["error_forced"] > 1.1 * row["error_plain"]:
            yield f"{row['case']}: error {row['error_forced']:.2e}, plain {row['error_plain']:.2e}"
    for name in ("graph", "undecided_graph", "threads"):
        if not found[name]:
            yield f"{name}: wrong"
    for name in ("differing_of_2000_attention", "differing_of_2000_gemm"):
        if found[name]:
            yield f"{name}: {found[name]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--decide", default="race", choices=("race", "always"))
    arguments = parser.parse_args()
    torch.manual_seed(0)
    begin, rows = time.monotonic(), []
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, torch {torch.__version__}, {twill_gpu.find_program().path}")
    found = checks()
    print(found, flush=True)
    print(f"{'case':36} {'plain':>7} {'drop-in':>7} {'ratio':>6}  bits  forced  first plain / drop-in")
    for build in cases():
        if time.monotonic() - begin > arguments.seconds:
            print("out of time")
            break
        case = build()
        if arguments.only in case.name:
            row = run_case(case, arguments.decide)
            rows.append(row)
            print(f"{row['case']:36} {row['plain_tflops']:7.1f} {row['dropin_tflops']:7.1f} {row['ratio']:6.3f}  {row['bits']!s:5} "
                  f"{row['bits_forced']!s:5}  {row['first_plain_s']:.1f} / {row['first_dropin_s']:.1f} s", flush=True)
        del case
    print(twill_gpu.report())
    wrong = list(failures(rows, found))
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": torch.cuda.get_device_name(), "triton": triton.__version__, "rows": rows,
                                              "checks": found, "report": twill_gpu.report().to_dict(), "wrong": wrong}, indent=1))
    print("\n".join(wrong) or "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
