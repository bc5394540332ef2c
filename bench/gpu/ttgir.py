#!/usr/bin/env python3
"""Printed TTGIR on a GPU, beside plain Triton, in the kernels of `kernels/` themselves.

  ttgir.py print TWILL FOLDER        print all modules, FOLDER/NAME.ttgir; no GPU needed
  ttgir.py run FOLDER [NAME...]      check and measure them: needs a Hopper GPU, PyTorch and the Triton of the texts (3.6)

For each kernel: small sizes, trip counts from the shortest on, module against plain Triton bit by bit and both against float64; 1,000 launches
with equal bits; then speed in turns, burst (12 ms) and sustained (150 ms), TFLOPS. The module is given by Triton's own launch option
`ir_override`. Each kernel runs in a process of its own, with a limit. One line of JSON per kernel goes to FOLDER/ttgir.json, the table to standard output.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 100  # for one kernel
LAUNCHES = 1000
CASES = {}


def case(name):
    def enter(make):
        CASES[name] = make
        return make
    return enter


class Case:
    """A kernel with its arguments: `call(**options)`, the tensors it writes, and what they should be."""

    def __init__(self, call, outs, reference, flops):
        self.call, self.outs, self.reference, self.flops = call, outs, reference, flops

    def run(self, **options):
        import torch
        for out in self.outs:
            out.fill_(float("nan"))
        self.call(**options)
        torch.cuda.synchronize()
        return [out.clone() for out in self.outs]


def source(name):
    import importlib
    sys.path[:0] = [str(ROOT / "kernels"), str(ROOT / "kernels" / name)]
    return importlib.import_module(name)


def random(*shape, dtype="float16", scale=1.0):
    import torch
    return (torch.randn(*shape, device="cuda") * scale).to(getattr(torch, dtype))


def boxes(*pairs):
    from triton.tools.tensor_descriptor import TensorDescriptor
    return [TensorDescriptor.from_tensor(tensor, list(box)) for tensor, box in pairs]


def product(kernel, bm, bn, bk, warps, stages, m, n, k):
    a, b, c = random(m, k), random(n, k), random(m, n)
    descriptors = boxes((a, (bm, bk)), (b, (bn, bk)), (c, (bm, bn)))
    call = lambda **o: kernel[(m // bm, n // bn)](*descriptors, k, BM=bm, BN=bn, BK=bk, WS=False, num_warps=warps, num_stages=stages, **o)
    return Case(call, [c], lambda: [a.double() @ b.double().T], 2 * m * n * k)


STEPS = (1, 2, 3, 4, 5, 7, 8, 17)


@case("gemm.tma_128x256x64")
def gemm_256():
    make = lambda m, n, k: product(source("gemm").gemm_tma, 128, 256, 64, 8, 3, m, n, k)
    return make, [(512, 512, 64 * t) for t in STEPS], [(4096, 4096, 4096), (8192, 8192, 8192)]


@case("gemm.tma_128x128x64")
def gemm_128():
    make = lambda m, n, k: product(source("gemm").gemm_tma, 128, 128, 64, 4, 4, m, n, k)
    return make, [(512, 512, 64 * t) for t in STEPS], [(4096, 4096, 4096)]


@case("gemm.ptr_128x128x64")
def gemm_ptr():
    def make(m, n, k):
        a, b, c = random(m, k), random(k, n), random(m, n)
        grid = (-(-m // 128) * -(-n // 128),)
        call = lambda **o: source("gemm").gemm_ptr[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), BM=128, BN=128, BK=64, GROUP=8, num_warps=8, num_stages=3, **o)
        return Case(call, [c], lambda: [a.double() @ b.double()], 2 * m * n * k)
    return make, [(512, 512, k) for k in (16, 64, 80, 128, 192, 448, 1040)] + [(400, 272, 256)], [(4096, 4096, 4096)]


@case("dual_gemm.128x128x64")
def dual_gemm():
    import torch
    def make(m, n, k):
        a, b, d, c = random(m, k, scale=.3), random(n, k, scale=.3), random(n, k, scale=.3), random(m, n)
        descriptors = boxes((a, (128, 64)), (b, (128, 64)), (d, (128, 64)), (c, (128, 128)))
        call = lambda **o: source("dual_gemm").dual_gemm[(m // 128, n // 128)](*descriptors, k, BM=128, BN=128, BK=64, WS=False, num_warps=8, num_stages=3, **o)
        return Case(call, [c], lambda: [torch.nn.functional.silu(a.double() @ b.double().T) * (a.double() @ d.double().T)], 4 * m * n * k)
    return make, [(512, 512, 64 * t) for t in STEPS], [(4096, 4096, 4096)]


@case("gemm_fp8.128x256x128")
def gemm_fp8():
    import torch
    def make(m, n, k):
        a, b, c = random(m, k, dtype="float8_e4m3fn", scale=.5), random(n, k, dtype="float8_e4m3fn", scale=.5), random(m, n)
        sa, sb = torch.rand(m, device="cuda") + .5, torch.rand(n, device="cuda") + .5
        descriptors = boxes((a, (128, 128)), (b, (256, 128)), (c, (128, 256)))
        call = lambda **o: source("gemm_fp8").gemm_fp8[(m // 128, n // 256)](*descriptors, sa, sb, k, BM=128, BN=256, BK=128, num_warps=8, num_stages=3, **o)
        return Case(call, [c], lambda: [(a.double() @ b.double().T) * sa[:, None].double() * sb[None].double()], 2 * m * n * k)
    return make, [(512, 512, 128 * t) for t in STEPS], [(4096, 4096, 4096)]


@case("gemm_persistent.128x128x64_nested")
def gemm_persistent():
    def make(m, n, k):
        a, b, c = random(m, k), random(n, k), random(m, n)
        descriptors = boxes((a, (128, 64)), (b, (128, 64)), (c, (128, 128)))
        call = lambda **o: source("gemm_persistent").gemm_persistent[(132,)](*descriptors, m, n, k, BM=128, BN=128, BK=64, GROUP=8, NSM=132, FLAT=False, WS=False, num_warps=4, num_stages=3, **o)
        return Case(call, [c], lambda: [a.double() @ b.double().T], 2 * m * n * k)
    return make, [(512, 512, 64 * t) for t in STEPS] + [(2048, 3072, 320)], [(4096, 4096, 4096), (8192, 8192, 2048)]


def attention(d, heads, n, warps=8):
    import torch
    q, k, v, o = (random(heads * n, d) for _ in range(4))
    lse = torch.empty(heads * n, device="cuda")
    descriptors = boxes((q, (128, d)), (k, (128, d)), (v, (128, d)), (o, (128, d)))
    call = lambda **x: source("fa_fwd").fa_fwd[(n // 128, heads)](*descriptors, lse, d**-.5, n, BM=128, BN=128, D=d, WS=False, num_warps=warps, num_stages=3, **x)
    return Case(call, [o, lse], lambda: [torch.softmax(q[:n].double() @ k[:n].double().T * d**-.5, -1) @ v[:n].double()], 4 * heads * n * n * d)


@case("fa_fwd.d128")
def fa_128():
    return lambda heads, n: attention(128, heads, n), [(2, 128 * t) for t in STEPS], [(128, 4096), (32, 16384)]


@case("fa_fwd.d64")
def fa_64():
    return lambda heads, n: attention(64, heads, n), [(2, 128 * t) for t in STEPS], [(128, 4096)]


@case("fa_fwd_causal.d128")
def fa_causal():
    import torch
    def make(heads, n):
        q, k, v, o = (random(heads * n, 128) for _ in range(4))
        descriptors = boxes(*((t, (128, 128)) for t in (q, k, v, o)))
        call = lambda **x: source("fa_fwd_causal").fa_fwd_causal[(n // 128, heads)](*descriptors, 128**-.5, n, BM=128, BN=128, D=128, num_warps=8, num_stages=3, **x)
        def reference():
            s = q[:n].double() @ k[:n].double().T * 128**-.5
            return [torch.softmax(s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf")), -1) @ v[:n].double()]
        return Case(call, [o], reference, 2 * heads * n * n * 128)
    return make, [(2, 128 * t) for t in STEPS], [(128, 4096)]


@case("fa_bwd_dq.m128n64d128")
def fa_dq():
    import torch
    def make(heads, n):
        q, k, v, do, out = (random(heads * n, 128, dtype="bfloat16", scale=.5) for _ in range(5))
        scale = 1.4426950408889634 / 128**.5
        lse, delta = torch.randn(heads * n, device="cuda") + 8, torch.randn(heads * n, device="cuda")
        descriptors = boxes((q, (128, 128)), (k, (64, 128)), (v, (64, 128)), (do, (128, 128)), (out, (128, 128)))
        call = lambda **o: source("fa_bwd_dq").fa_bwd_dq[(n // 128, heads)](*descriptors, lse, delta, scale, n, BM=128, BN=64, D=128, num_warps=8, num_stages=2, **o)
        def reference():
            p = torch.exp2(q[:n].double() @ k[:n].double().T * scale - lse[:n, None].double())
            return [(p * (do[:n].double() @ v[:n].double().T - delta[:n, None].double())) @ k[:n].double()]
        return Case(call, [out], reference, 6 * heads * n * n * 128)
    return make, [(2, 128 * t) for t in (1, 2, 3, 4, 8)], [(16, 4096)]


@case("conv2d.3x3_128x128x64")
def conv():
    import torch
    def make(images, side, ci, co):
        x, w, y = random(images, side, side, ci), random(3, 3, ci, co, scale=.1), random(images, side, side, co)
        grid = (-(-images * side * side // 128), co // 128)
        call = lambda **o: source("conv2d").conv2d[grid](x, w, y, images, side, side, ci, co, R=3, S=3, BM=128, BN=128, BK=64, num_warps=8, num_stages=3, **o)
        reference = lambda: [torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), w.double().permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)]
        return Case(call, [y], reference, 18 * images * side * side * ci * co)
    return make, [(16, 16, 128, 256), (16, 16, 64, 128)], [(16, 64, 256, 256)]


def bits_equal(a, b):
    import torch
    view = torch.int32 if a.dtype == torch.float32 else torch.int16
    return bool(torch.equal(a.view(view), b.view(view)))


def error(out, wanted):
    rows = out.reshape(-1, wanted.shape[-1])[: wanted.reshape(-1, wanted.shape[-1]).shape[0]].double()
    return float((rows - wanted.reshape(-1, wanted.shape[-1])).norm() / wanted.norm())


def check(make, sizes, module):
    import torch
    found = {"sizes": len(sizes), "equal": 0, "worst": 0.0, "plain_worst": 0.0, "differing": 0}
    for seed, size in enumerate(sizes):
        torch.manual_seed(seed)
        one = make(*size)
        plain, printed = one.run(), one.run(ir_override=module)
        found["equal"] += all(map(bits_equal, plain, printed))
        for index, wanted in enumerate(one.reference()):
            found["worst"] = max(found["worst"], error(printed[index], wanted))
            found["plain_worst"] = max(found["plain_worst"], error(plain[index], wanted))
    first = one.run(ir_override=module)
    for _ in range(LAUNCHES):
        found["differing"] += not all(map(bits_equal, first, one.run(ir_override=module)))
    return found


def milliseconds(call, duration):
    import torch
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call()
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    count = max(3, int(duration * 1e3 / max(begin.elapsed_time(end), 1e-3)))
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / count


def measure(make, sizes, module):
    import torch
    rows = []
    for size in sizes:
        torch.manual_seed(0)
        one = make(*size)
        ways = {"plain": lambda: one.call(), "module": lambda: one.call(ir_override=module)}
        times = {(way, kind): [] for way in ways for kind in ("burst", "sustained")}
        for kind, duration, rounds, pause in (("burst", .012, 4, .08), ("sustained", .15, 2, 0)):
            for turn in range(rounds):
                for way in sorted(ways, reverse=turn % 2 == 1):
                    time.sleep(pause)
                    if kind == "sustained":
                        milliseconds(ways[way], .05)
                    times[way, kind].append(milliseconds(ways[way], duration))
        rate = {key: round(one.flops / statistics.median(values) * 1e-9, 1) for key, values in times.items()}
        rows.append({"size": size, **{way: [rate[way, "burst"], rate[way, "sustained"]] for way in ways}})
        del one
        torch.cuda.empty_cache()
    return rows


def run_one(folder, name):
    make, small, large = CASES[name]()
    module = str(folder / f"{name}.ttgir")
    print(json.dumps({"name": name, "check": check(make, small, module), "speed": measure(make, large, module)}), flush=True)


def run(folder, names):
    import torch
    import triton
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, Triton {triton.__version__}; TFLOPS burst / sustained", flush=True)
    with open(folder / "ttgir.json", "w") as out:
        for name in names:
            try:
                done = subprocess.run([sys.executable, __file__, "one", str(folder), name], capture_output=True, text=True, timeout=SECONDS)
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                why = "" if lines else done.stderr.strip()[-400:]
            except subprocess.TimeoutExpired:
                lines, why = [], f"no end within {SECONDS} s"
            if not lines:
                print(f"{name:34} FAILED: {why}", flush=True)
                continue
            found = json.loads(lines[0])
            out.write(lines[0] + "\n")
            checks = found["check"]
            print(f"{name:34} {checks['equal']} of {checks['sizes']} sizes equal plain Triton bit by bit; error {checks['worst']:.1e} (plain {checks['plain_worst']:.1e}); {checks['differing']} of {LAUNCHES} launches differ", flush=True)
            for row in found["speed"]:
                ratios = [b / a for a, b in zip(row["plain"], row["module"])]
                print(f"{'':34} {str(tuple(row['size'])):24} plain {row['plain'][0]} / {row['plain'][1]}  module {row['module'][0]} / {row['module'][1]}  {ratios[0]:.2f}x / {ratios[1]:.2f}x", flush=True)


def print_modules(twill, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        kernel, variant = name.split(".", 1)
        subprocess.run([twill, "emit", "ttgir", str(ROOT / "kernels" / kernel / "sm_90" / f"{variant}.pre.ttgir"), "-o", str(folder / f"{name}.ttgir")], check=True)


def main():
    what = sys.argv[1] if len(sys.argv) > 2 else ""
    if what == "print":
        print_modules(sys.argv[2], pathlib.Path(sys.argv[3]))
    elif what == "one":
        run_one(pathlib.Path(sys.argv[2]), sys.argv[3])
    elif what == "run":
        run(pathlib.Path(sys.argv[2]), sys.argv[3:] or list(CASES))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
