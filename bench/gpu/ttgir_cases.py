"""The bundled kernels with arguments, for the checks and measurements of `ttgir.py`: inputs of a launch, outputs, and their expected values.

Constants, launch options and the boxes of descriptors come from the SPECS of the kernel's own source. `CASES` has for each kernel and variant:
`make(*size)`, which needs a GPU; the sizes at which results are compared; and the sizes that are timed.
"""
import importlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = (1, 2, 3, 4, 5, 7, 8, 17)  # iterations: below, at and beyond the depth of every ring
LOG2E = 1.4426950408889634
CASES = {}


class Out:
    """A tensor that a kernel writes: its contents before a launch, and whether the order of the additions in it is the same in every launch."""

    def __init__(self, tensor, before=float("nan"), exact=True):
        self.tensor, self.before, self.exact = tensor, before, exact


class Case:
    """A kernel with its arguments: `call(**options)`, the `outs`, their `reference` in float64, operations of one launch, and calls of a library for
    the same work.
    """

    def __init__(self, spec, grid, values, outs, reference, flops, library=None):
        from triton.tools.tensor_descriptor import TensorDescriptor
        self.kernel, self.grid, self.const, self.options = spec["fn"], grid, spec["const"], spec["opts"][90]
        box = lambda kind: [int(size) for size in re.search(r"\[(.*)\]", kind)[1].split(",")]
        self.arguments = [TensorDescriptor.from_tensor(values[name], box(kind)) if kind.startswith("tensordesc") else values[name]
                          for name, kind in spec["sig"].items()]
        self.outs, self.reference, self.flops, self.library = outs, reference, flops, library

    def call(self, **options):
        return self.kernel[self.grid](*self.arguments, **self.const, **{**self.options, **options})

    def compile(self, **options):
        return self.kernel.warmup(*self.arguments, grid=self.grid, **self.const, **{**self.options, **options})

    def run(self, **options):
        import torch
        for out in self.outs:
            out.tensor.fill_(out.before)
        self.call(**options)
        torch.cuda.synchronize()
        return [out.tensor.clone() for out in self.outs]


def case(name, variants, small, large):
    """Enters `make(spec, *size)` for every variant of a kernel."""
    def enter(make):
        for variant in variants:
            def bound(*size, variant=variant):
                sys.path[:0] = [str(ROOT / "kernels"), str(ROOT / "kernels" / name)]
                specs = importlib.import_module(name).SPECS
                return make(next(spec for spec in specs if spec["variant"] == variant), *size)
            CASES[f"{name}.{variant}"] = bound, small, large
        return make
    return enter


def random(*shape, dtype="float16", scale=1.0):
    import torch
    return (torch.randn(*shape, device="cuda") * scale).to(getattr(torch, dtype))


def blocks(spec):
    return [spec["const"][name] for name in ("BM", "BN", "BK")]


def squares(block, *sizes):
    return [(512, 512, block * steps) for steps in STEPS], list(sizes)


def product_case(spec, m, n, k, grid=None, **more):
    import torch
    bm, bn, _ = blocks(spec)
    a, b, c, out = random(m, k), random(n, k), random(m, n), random(m, n)
    values = {"a_desc": a, "b_desc": b, "c_desc": c, "M": m, "N": n, "K": k, **more}
    return Case(spec, grid or (m // bm, n // bn), values, [Out(c)], lambda: [a.double() @ b.double().T], 2 * m * n * k, lambda: torch.matmul(a, b.T, out=out))


@case("gemm", ["tma_128x256x64", "tma_128x128x64", "tma_128x128x64_ws"], *squares(64, (4096, 4096, 4096), (8192, 8192, 8192)))
def gemm(spec, m, n, k):
    return product_case(spec, m, n, k)


@case("gemm_persistent", ["128x128x64_nested", "128x256x64_flat"], squares(64)[0] + [(2048, 3072, 320)], [(4096, 4096, 4096), (8192, 8192, 2048)])
def gemm_persistent(spec, m, n, k):
    return product_case(spec, m, n, k, grid=(spec["const"]["NSM"],))


@case("gemm", ["ptr_128x128x64"], [(512, 512, k) for k in (16, 64, 80, 128, 192, 448, 1040)] + [(400, 272, 256)], [(4096, 4096, 4096)])
def gemm_ptr(spec, m, n, k):
    import torch
    bm, bn, _ = blocks(spec)
    a, b, c, out = random(m, k), random(k, n), random(m, n), random(m, n)
    values = {"a_ptr": a, "b_ptr": b, "c_ptr": c, "M": m, "N": n, "K": k, "stride_am": a.stride(0), "stride_bk": b.stride(0), "stride_cm": c.stride(0)}
    return Case(spec, (-(-m // bm) * -(-n // bn),), values, [Out(c)], lambda: [a.double() @ b.double()], 2 * m * n * k, lambda: torch.matmul(a, b, out=out))


@case("gemm_rowsum", ["128x128x64", "128x256x64"], *squares(64, (4096, 4096, 4096)))
def gemm_rowsum(spec, m, n, k):
    bm, bn, _ = blocks(spec)
    a, b, c, y = random(m, k), random(n, k), random(m, n), random(m, dtype="float32")
    return Case(spec, (m // bm, n // bn), {"a_desc": a, "b_desc": b, "c_desc": c, "y_ptr": y, "K": k}, [Out(c), Out(y)],
                lambda: [a.double() @ b.double().T, a.double().sum(1)], 2 * m * n * k)


@case("gemm_bias", ["nn_128x128x64", "tt_256x128x32"], *squares(64, (4096, 4096, 4096)))
def gemm_bias(spec, m, n, k):
    import torch
    bm, bn, _ = blocks(spec)
    a, b, c, bias = random(m, k, dtype="bfloat16", scale=.3), random(k, n, dtype="bfloat16", scale=.3), random(m, n, dtype="bfloat16"), random(n, dtype="bfloat16")
    act = torch.nn.functional.silu if spec["const"]["SILU"] else torch.relu
    values = {"a_desc": a.T.contiguous() if spec["const"]["TA"] else a, "b_desc": b.T.contiguous() if spec["const"]["TB"] else b, "c_desc": c, "bias_ptr": bias, "K": k}
    return Case(spec, (m // bm, n // bn), values, [Out(c)], lambda: [act(a.double() @ b.double() + bias.double())], 2 * m * n * k)


@case("gemm_batched", ["128x128x64"], [(2, 512, 512, 64 * steps) for steps in STEPS], [(8, 2048, 2048, 2048)])
def gemm_batched(spec, batch, m, n, k):
    import torch
    bm, bn, _ = blocks(spec)
    a, b, c, out = random(batch, m, k), random(batch, n, k), random(batch, m, n), random(batch, m, n)
    return Case(spec, (m // bm, n // bn, batch), {"a_desc": a, "b_desc": b, "c_desc": c, "K": k}, [Out(c)], lambda: [a.double() @ b.double().transpose(1, 2)],
                2 * batch * m * n * k, lambda: torch.bmm(a, b.transpose(1, 2), out=out))


@case("gemm_around", ["normalized", "halves", "split_k", "counted"], [(512, 512, 256 * steps) for steps in STEPS], [(4096, 4096, 4096)])
def gemm_around(spec, m, n, k):
    import torch
    what, splits = spec["variant"], 4 if spec["variant"] == "split_k" else 1
    a, b, c = random(m, k, scale=.3), random(k, n, scale=.3), random(m, n, dtype="float32")
    rows, done = m - 212, torch.zeros(m // 128, device="cuda", dtype=torch.int32)

    def reference():
        wanted = a.double() @ b.double()
        if what == "normalized":
            wanted = torch.softmax(wanted.view(m, -1, 128), -1).view(m, -1)
        wanted[rows:] = 0
        counted = torch.full((m // 128,), n // 128 if what == "counted" else 0, device="cuda", dtype=torch.float64)
        counted[-(-rows // 128):] = 0
        return [wanted, counted]
    values = {"a_desc": a, "b_desc": b, "c_ptr": c, "rows_ptr": torch.tensor([rows], device="cuda", dtype=torch.int32), "done_ptr": done, "N": n, "K": k // splits}
    return Case(spec, (m // 128, n // 128, splits), values, [Out(c, 0, what != "split_k"), Out(done, 0)], reference, 2 * m * n * k)


@case("dual_gemm", ["128x128x64"], *squares(64, (4096, 4096, 4096)))
def dual_gemm(spec, m, n, k):
    import torch
    a, b, d, c = random(m, k, scale=.3), random(n, k, scale=.3), random(n, k, scale=.3), random(m, n)
    return Case(spec, (m // 128, n // 128), {"a_desc": a, "b1_desc": b, "b2_desc": d, "c_desc": c, "K": k}, [Out(c)],
                lambda: [torch.nn.functional.silu(a.double() @ b.double().T) * (a.double() @ d.double().T)], 4 * m * n * k)


@case("gemm_fp8", ["128x256x128"], *squares(128, (4096, 4096, 4096)))
def gemm_fp8(spec, m, n, k):
    import torch
    a, b, c = random(m, k, dtype="float8_e4m3fn", scale=.5), random(n, k, dtype="float8_e4m3fn", scale=.5), random(m, n)
    sa, sb = torch.rand(m, device="cuda") + .5, torch.rand(n, device="cuda") + .5
    return Case(spec, (m // 128, n // 256), {"a_desc": a, "b_desc": b, "c_desc": c, "sa_ptr": sa, "sb_ptr": sb, "K": k}, [Out(c)],
                lambda: [(a.double() @ b.double().T) * sa[:, None].double() * sb[None].double()], 2 * m * n * k,
                lambda: torch._scaled_mm(a, b.T, scale_a=sa[:, None], scale_b=sb[None], out_dtype=torch.bfloat16))


@case("conv2d", ["3x3_128x128x64"], [(16, 16, 128, 256), (16, 16, 64, 128)], [(16, 64, 256, 256)])
def conv2d(spec, images, side, ci, co):
    import torch
    x, w, y = random(images, side, side, ci), random(3, 3, ci, co, scale=.1), random(images, side, side, co)
    last = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    values = {"x_ptr": x, "w_ptr": w, "y_ptr": y, "NB": images, "H": side, "W": side, "CI": ci, "CO": co}
    return Case(spec, (-(-images * side * side // 128), co // 128), values, [Out(y)],
                lambda: [torch.nn.functional.conv2d(*(t.double() for t in last), padding=1).permute(0, 2, 3, 1)],
                18 * images * side * side * ci * co, lambda: torch.nn.functional.conv2d(*last, padding=1))


def attention_case(spec, rows, heads, n, causal=False, bias=None, simple=False, **more):
    """Attention forward with `rows` query rows a CTA. References are of the first head."""
    import torch
    d = spec["const"]["D"]
    q, k, v, o = (random(heads * n, d, scale=.2 if simple else 1.0) for _ in range(4))
    lse = torch.empty(heads * n, device="cuda")

    def reference():
        s = q[:n].double() @ k[:n].double().T
        if simple:
            return [torch.exp2(s) @ v[:n].double()]
        s = s * d**-.5 + (0 if bias is None else bias[:n].double())
        if causal:
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf"))
        return [torch.softmax(s, -1) @ v[:n].double()] + ([torch.logsumexp(s, -1) * LOG2E] if "lse_ptr" in spec["sig"] else [])

    def library():
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            return torch.nn.functional.scaled_dot_product_attention(*(t.view(1, heads, n, d) for t in (q, k, v)), is_causal=causal)
    values = {"q_desc": q, "k_desc": k, "v_desc": v, "o_desc": o, "q_ptr": q, "k_ptr": k, "v_ptr": v, "o_ptr": o, "lse_ptr": lse, "scale": d**-.5,
              "n_ctx": n, "n_rows": heads * n, "bias_ptr": bias, "bias_desc": bias, **more}
    outs = [Out(o)] + ([Out(lse)] if "lse_ptr" in spec["sig"] else [])
    return Case(spec, (n // rows, heads), values, outs, reference, (2 if causal else 4) * heads * n * n * d, None if simple or bias is not None else library)


HEADS = [(2, 128 * steps) for steps in STEPS]


@case("fa_fwd", ["d128", "d64", "d128m64"], HEADS, [(128, 4096), (32, 16384)])
def fa_fwd(spec, heads, n):
    return attention_case(spec, spec["const"]["BM"], heads, n)


@case("fa_fwd", ["dev_d128_ws", "dev_d64_ws"], HEADS, [(128, 4096)])
def fa_fwd_dev(spec, heads, n):
    import torch
    import triton
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    return attention_case(spec, spec["const"]["BM"], heads, n)


@case("fa_fwd_causal", ["d128"], HEADS, [(128, 4096)])
def fa_fwd_causal(spec, heads, n):
    return attention_case(spec, spec["const"]["BM"], heads, n, causal=True)


@case("fa_fwd_bias", ["d128_causal", "d128_desc", "d64_causal", "d64_desc"], HEADS, [(32, 4096)])
def fa_fwd_bias(spec, heads, n):
    return attention_case(spec, spec["const"]["BM"], heads, n, causal=spec["variant"].endswith("causal"), bias=random(heads * n, n))


@case("fa_fwd_subtiled", ["2x128n128d128", "2x128n128d64", "2x64n128d128", "2x64n128d64"], [(2, 256 * steps) for steps in STEPS], [(128, 4096)])
def fa_fwd_subtiled(spec, heads, n):
    return attention_case(spec, 2 * spec["const"]["BM"], heads, n)


@case("fa_simple", ["m128n128d128", "m64n128d128"], HEADS, [(128, 4096)])
def fa_simple(spec, heads, n):
    return attention_case(spec, spec["const"]["BM"], heads, n, simple=True)


@case("fa_bwd_dq", ["m128n64d128"], [(2, 128 * steps) for steps in (1, 2, 3, 4, 8)], [(16, 4096)])
def fa_bwd_dq(spec, heads, n):
    import torch
    q, k, v, do, out = (random(heads * n, 128, dtype="bfloat16", scale=.5) for _ in range(5))
    scale = LOG2E / 128**.5
    lse, delta = torch.randn(heads * n, device="cuda") + 8, torch.randn(heads * n, device="cuda")

    def reference():
        p = torch.exp2(q[:n].double() @ k[:n].double().T * scale - lse[:n, None].double())
        return [(p * (do[:n].double() @ v[:n].double().T - delta[:n, None].double())) @ k[:n].double()]
    values = {"q_desc": q, "k_desc": k, "v_desc": v, "do_desc": do, "dq_desc": out, "lse_ptr": lse, "delta_ptr": delta, "scale": scale, "S": n}
    return Case(spec, (n // 128, heads), values, [Out(out)], reference, 6 * heads * n * n * 128)


@case("fa_bwd", ["m64n128d128_atomic", "m64n128d128_tmared", "m64n128d64_tmared"], HEADS, [(64, 4096)])
@case("fa_bwd_subtiled", ["m64n2x64d128", "m64n2x64d128w8", "m64n2x64d64"], HEADS, [(64, 4096)])
def fa_bwd(spec, heads, n):
    import torch
    d = spec["const"]["D"]
    q, k, v, do, dk, dv = (random(heads * n, d, scale=.5) for _ in range(6))
    dq = torch.zeros(heads * n, d, device="cuda")
    lse, delta = torch.randn(heads * n, device="cuda") + 8, torch.randn(heads * n, device="cuda")

    def reference():
        a, b, c, e = (t[:n].double() for t in (q, k, v, do))
        p = torch.exp2(a @ b.T * d**-.5 * LOG2E - lse[:n, None].double())
        ds = p * (e @ c.T - delta[:n, None].double())
        return [ds @ b * d**-.5, ds.T @ a * d**-.5, p.T @ e]
    values = {"q_desc": q, "k_desc": k, "v_desc": v, "do_desc": do, "dq_desc": dq, "dk_desc": dk, "dv_desc": dv, "dq_ptr": dq, "lse_ptr": lse, "delta_ptr": delta,
              "scale": d**-.5, "n_ctx": n}
    return Case(spec, (n // spec["const"]["BN"], heads), values, [Out(dq, 0, False), Out(dk), Out(dv)], reference, 10 * heads * n * n * d)
