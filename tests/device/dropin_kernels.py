"""More rows of dropin.py: kernels of `kernels/` beyond the first table, the forms of Triton's tutorials 06, 08 and 09, and kernels that PyTorch makes."""

import contextlib
import pathlib
import sys
import types

import torch
import triton
import triton.language as tl
from dropin_rows import Case, causal_reference, described, empty, random

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "bench" / "gpu"))

import fa_bwd  # noqa: E402
import fa_fwd_bias  # noqa: E402
import fa_fwd_causal  # noqa: E402
import gemm_batched  # noqa: E402
import gemm_bias  # noqa: E402
import gemm_rowsum  # noqa: E402
import ttgir_cases as measured  # noqa: E402 (bench/gpu/ttgir_cases.py)


def measured_case(name, *size, bar=0.0):
    """A case of bench/gpu/ttgir.py."""
    case = measured.CASES[name][0](*size)
    return Case(f"{name} {'x'.join(map(str, size))}", case.call, [out.tensor for out in case.outs], case.flops, case.reference, bar)


def batched_case(batches, size):
    a, b, c = (make(batches, size, size) for make in (random, random, empty))

    def launch():
        gemm_batched.gemm_batched[(size // 128, size // 128, batches)](described(a, 1, 128, 64), described(b, 1, 128, 64), described(c, 1, 128, 128), size,
                                                                       BM=128, BN=128, BK=64, num_warps=4, num_stages=3)
    return Case(f"gemm batched {batches}x{size}", launch, [c], 2.0 * batches * size**3, lambda: [a.double() @ b.double().mT])


def bias_gemm_case(size):
    a, b, bias, c = (make(*shape).to(torch.bfloat16) for make, shape in ((random, (size, size)), (random, (size, size)), (random, (size, )), (empty, (size, size))))

    def launch():
        gemm_bias.gemm_bias[(size // 128, size // 128)](described(a, 128, 64), described(b, 64, 128), described(c, 128, 128), bias, size, BM=128, BN=128,
                                                        BK=64, TA=False, TB=False, SILU=False, num_warps=8, num_stages=3)
    return Case(f"gemm bias {size}", launch, [c], 2.0 * size**3, lambda: [torch.relu(a.double() @ b.double() + bias.double())])


def rowsum_case(size):
    a, b, c, y = random(size, size), random(size, size), empty(size, size), torch.full((size, ), float("nan"), device="cuda")

    def launch():
        gemm_rowsum.gemm_rowsum[(size // 128, size // 256)](described(a, 128, 64), described(b, 256, 64), described(c, 128, 256), y, size, BM=128, BN=256,
                                                            BK=64, num_warps=8, num_stages=3)
    return Case(f"gemm rowsum {size}", launch, [c, y], 2.0 * size**3, lambda: [a.double() @ b.double().T])


def bias_attention_case(tokens, heads, d=128):
    q, k, v, o, bias = random(heads * tokens, d), random(heads * tokens, d), random(heads * tokens, d), empty(heads * tokens, d), random(heads * tokens, tokens)

    def launch():
        fa_fwd_bias.fa_fwd_bias_desc[(tokens // 128, heads)](*(described(t, 128, d) for t in (q, k, v, o)), described(bias, 128, 128), d**-0.5, tokens,
                                                             BM=128, BN=128, D=d, num_warps=8, num_stages=2)  # with 3, plain Triton's kernel does not fit

    def reference():  # of the first head
        scores = q[:tokens].double() @ k[:tokens].double().T * d**-0.5 + bias[:tokens].double()
        return [torch.softmax(scores, -1) @ v[:tokens].double()]
    return Case(f"attention bias d{d} {heads}x{tokens}", launch, [o], 4.0 * heads * tokens**2 * d, reference)


def backward_case(tokens, heads, d=128):
    """Gradients, dQ by atomics: two launches differ in dQ, so only dK and dV are compared, and there is no race."""
    q, k, v, do, dk, dv = (make(heads * tokens, d) for make in (random, random, random, random, empty, empty))
    dq, lse, delta = (torch.zeros(shape, device="cuda") for shape in ((heads * tokens, d), (heads * tokens, ), (heads * tokens, )))
    lse += 8

    def launch():
        fa_bwd.fa_bwd[(tokens // 128, heads)](described(q, 64, d), described(k, 128, d), described(v, 128, d), described(do, 64, d), described(dq, 64, d),
                                              described(dk, 128, d), described(dv, 128, d), dq, lse, delta, d**-0.5, tokens, BM=64, BN=128, D=d,
                                              TMA_RED=True, WS=False, num_warps=8, num_stages=2)
    return Case(f"attention backward d{d} {heads}x{tokens}", launch, [dk, dv], 10.0 * heads * tokens**2 * d, refused=r"\(C7512\)",  # of each plan
                settings={"spare_registers": (0, )})


# ---- The forms of Triton's tutorials
def _blocks(arguments):
    """Gives descriptors the blocks of the next configuration, as in tutorials 06 and 09."""
    for name, rows in (("q_desc", "BM"), ("k_desc", "BN"), ("v_desc", "BN"), ("o_desc", "BM")):
        arguments[name].block_shape = [arguments[rows], arguments["D"]]


# A separate function: in memory, the kernels of causal_case() have raced already, and a second row would have no race.
tuned_attention = triton.autotune([triton.Config({"BM": 128, "BN": n}, num_warps=8, num_stages=3, pre_hook=_blocks) for n in (64, 128)],
                                  key=["n_ctx", "D"])(triton.jit(fa_fwd_causal.fa_fwd_causal.fn))


def tuned_attention_case(tokens, heads, d=128):
    """Tutorial 06: causal attention in two loops, autotuned, its descriptors made by the host."""
    q, k, v, o = (make(heads * tokens, d) for make in (random, random, random, empty))

    def launch():
        tuned_attention[lambda meta: (tokens // meta["BM"], heads)](*(described(t, 128, d) for t in (q, k, v, o)), d**-0.5, tokens, D=d)
    choices = {"plain": {}, "dropin": {}}

    def on(side):
        tuned_attention.cache = choices[side]
    return Case(f"tutorial 06 causal d{d} {heads}x{tokens}", launch, [o], 2.0 * heads * tokens**2 * d, lambda: causal_reference(q, k, v, tokens), 1.15, on)


@triton.jit
def grouped_gemm(tables, sizes, groups, NSM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of several sizes, a program per SM: matrices by addresses from memory."""
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        m, n, depth = tl.load(sizes + 3 * group), tl.load(sizes + 3 * group + 1), tl.load(sizes + 3 * group + 2)
        columns = tl.cdiv(n, BN)
        here = tl.cdiv(m, BM) * columns
        while tile >= before and tile < before + here:
            a = tl.load(tables + 3 * group).to(tl.pointer_type(tl.float16))
            b = tl.load(tables + 3 * group + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(tables + 3 * group + 2).to(tl.pointer_type(tl.float16))
            rows = (tile - before) // columns * BM + tl.arange(0, BM)
            cols = (tile - before) % columns * BN + tl.arange(0, BN)
            along = tl.arange(0, BK)
            acc = tl.zeros([BM, BN], dtype=tl.float32)
            for k in range(0, depth, BK):
                left = tl.load(tl.multiple_of(a + rows[:, None] * depth + (k + along)[None, :], [16, 16]))
                right = tl.load(tl.multiple_of(b + (k + along)[:, None] * n + cols[None, :], [16, 16]))
                acc = tl.dot(left, right, acc)
            tl.store(c + rows[:, None] * n + cols[None, :], acc.to(tl.float16))
            tile += NSM
        before += here


def grouped_case(sizes=(4096, 2048, 1024, 512)):
    """Tutorial 08."""
    parts = [(random(size, size), random(size, size), empty(size, size)) for size in sizes]
    tables = torch.tensor([t.data_ptr() for part in parts for t in part], device="cuda", dtype=torch.int64)
    shapes = torch.tensor([size for size in sizes for _ in range(3)], device="cuda", dtype=torch.int32)

    def launch(_inputs=parts):  # kernels know the inputs by their addresses alone
        grouped_gemm[(132, )](tables, shapes, len(sizes), NSM=132, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)
    return Case("tutorial 08 grouped gemm", launch, [part[2] for part in parts], 2.0 * sum(size**3 for size in sizes),
                lambda: [parts[0][0].double() @ parts[0][1].double()])


@triton.jit
def device_descriptors_gemm(a_ptr, b_ptr, c_ptr, M, N, K, GROUP: tl.constexpr, NSM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A persistent product whose descriptors the kernel makes itself."""
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, NSM):
        first = tile // (GROUP * columns) * GROUP
        high = min(rows - first, GROUP)
        m = (first + tile % (GROUP * columns) % high) * BM
        n = tile % (GROUP * columns) // high * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, acc)
        c_desc.store([m, n], acc.to(tl.float16))


def device_descriptors_case(size):
    """Tutorial 09, with descriptors made on the device, for which Triton asks for memory at each launch."""
    a, b, c = random(size, size), random(size, size), empty(size, size)
    triton.set_allocator(lambda bytes_, alignment, stream: torch.empty(bytes_, device="cuda", dtype=torch.int8))

    def launch():
        device_descriptors_gemm[(132, )](a, b, c, size, size, size, GROUP=8, NSM=132, BM=128, BN=256, BK=64, num_warps=8, num_stages=3)
    return Case(f"tutorial 09 device descriptors {size}", launch, [c], 2.0 * size**3)


@triton.jit
def persistent_pointers_gemm(a_ptr, b_ptr, c_ptr, M, N, K, GROUP: tl.constexpr, NSM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A persistent product through pointers."""
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, NSM):
        first = tile // (GROUP * columns) * GROUP
        high = min(rows - first, GROUP)
        m = (first + tile % (GROUP * columns) % high) * BM + tl.arange(0, BM)
        n = tile % (GROUP * columns) // high * BN + tl.arange(0, BN)
        along = tl.arange(0, BK)
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in range(0, K, BK):
            left = tl.load(a_ptr + m[:, None] * K + (k + along)[None, :])
            right = tl.load(b_ptr + (k + along)[:, None] * N + n[None, :])
            acc = tl.dot(left, right, acc)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))


def persistent_pointers_case(size):
    """Tutorial 09, through pointers."""
    a, b, c = random(size, size), random(size, size), empty(size, size)

    def launch():
        persistent_pointers_gemm[(132, )](a, b, c, size, size, size, GROUP=8, NSM=132, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)
    return Case(f"tutorial 09 persistent pointers {size}", launch, [c], 2.0 * size**3)


# ---- Kernels that PyTorch makes
def compiled_case(name, function, arguments, flop, reference, **mode):
    """A function under torch.compile, compiled separately for each side: another code object, and empty caches."""
    import torch._inductor.config
    import torch._inductor.utils as utils

    torch._inductor.config.compile_threads = 1  # workers would need TWILL=1 in their own environment
    torch._inductor.config.max_autotune_gemm_backends = "TRITON"
    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache
    made, outputs, now = {}, [torch.zeros(1, device="cuda")], ["plain"]

    def launch():
        side, caches = now[0], contextlib.nullcontext()
        if side not in made:
            copy = types.FunctionType(function.__code__.replace(co_name=f"{function.__name__}_{side}"), function.__globals__, side, function.__defaults__,
                                      function.__closure__)
            made[side], caches = torch.compile(copy, dynamic=False, **mode), fresh()
        with caches:
            result = made[side](*arguments)
        outputs[:] = result if isinstance(result, tuple) else [result]

    def on(side):
        now[0] = side
    return Case(f"PyTorch's {name}", launch, outputs, flop, reference, on=on, settings={"inductor": True}, alike=False)


def flexible_attention(q, k, v):
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v)


def flex_case(heads, tokens, d=128):
    q, k, v = (random(heads, 1, tokens, d) for _ in range(3))

    def reference():  # of the first two of a batch
        qd, kd, vd = (t[:2].double() for t in (q, k, v))
        return [torch.softmax(qd @ kd.transpose(-1, -2) * d**-0.5, -1) @ vd]
    return compiled_case(f"flex attention {heads}x{tokens}", flexible_attention, (q, k, v), 4.0 * heads * tokens**2 * d, reference)
