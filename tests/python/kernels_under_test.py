"""Kernels of the drop-in's tests, and their compilation without a GPU."""

import pathlib
import tempfile

import stages_once
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SM_90 = GPUTarget("cuda", 90, 32)
stages_once.remember()


@triton.jit
def gemm(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in tl.range(0, K, BK):
        a = a_desc.load([m0, k])
        b = b_desc.load([n0, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([m0, n0], acc.to(tl.float16))


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1.0, mask=at < n)


@triton.jit
def in_place(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + at)
    tl.store(y_ptr + at, y + tl.load(x_ptr + at))


@triton.jit
def counts(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def through_table(x_ptr, y_ptr, table_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    y_at = y_ptr + at
    for i in range(0, n):
        row = tl.load(table_ptr + i)
        tl.store(y_at, tl.load(x_ptr + row * BLOCK + at))
        y_at += BLOCK


@triton.jit
def chosen(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    source = x_ptr
    if n > 3:
        source = y_ptr
    tl.store(y_ptr + at, tl.load(source + at))


@triton.jit
def of_addresses(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    where = tl.load(x_ptr).to(tl.pointer_type(tl.float32))
    tl.store(y_ptr + at, tl.load(where + at))


@triton.jit
def placed(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0)
    if n > 3:
        row += tl.program_id(0)
        tl.store(y_ptr + row * BLOCK + at, tl.load(x_ptr + row * BLOCK + at))


@triton.jit
def returns(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if n == 7:
        return
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def assembles(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x_ptr + at)], tl.float32, is_pure=True, pack=1)
    tl.store(y_ptr + at, x)


@triton.jit
def says(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_print("at", tl.program_id(0))
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@triton.jit(noinline=True)
def plus_one(x):
    return x + 1.0


@triton.jit
def calls(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, plus_one(tl.load(x_ptr)))


@triton.jit
def counts_up(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def waits(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    while tl.load(x_ptr, volatile=True) == 0.0:
        pass
    tl.store(y_ptr + at, 1.0)


@triton.jit
def generated_product(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A product in the form that PyTorch's compiler generates: rows that wrap, a masked step, a bias and a relu behind it."""
    at = tl.program_id(0)
    width = GROUP * tl.cdiv(N, BN)
    first = at // width * GROUP
    high = min(tl.cdiv(M, BM) - first, GROUP)
    m = (first + at % high) * BM + tl.arange(0, BM)
    n = at % width // high * BN + tl.arange(0, BN)
    rows = tl.max_contiguous(tl.multiple_of(m % M, BM), BM)
    columns = tl.max_contiguous(tl.multiple_of(n % N, BN), BN)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + columns[None, :], mask=k[:, None] < K, other=0.0)
        acc += tl.dot(a, b)
    acc = tl.maximum(acc + tl.load(bias_ptr + n, mask=n < N, other=0.0)[None, :], 0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def source_of(kernel, signature, constants, odd=()):
    """A kernel compiled by Triton; arrays and integers are multiples of 16, except the `odd` ones."""
    whole = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    aligned = {(number, ): [["tt.divisibility", 16]] for number, (name, kind) in enumerate(whole.items())
               if name not in odd and (kind.startswith("*") or kind == "i32")}
    return ASTSource(kernel, whole, constants, aligned)


def gemm_source():
    descriptors = {"a_desc": "tensordesc<fp16[128,64]>", "b_desc": "tensordesc<fp16[128,64]>", "c_desc": "tensordesc<fp16[128,128]>"}
    return source_of(gemm, {**descriptors, "K": "i32"}, {"BM": 128, "BN": 128, "BK": 64})


def compile_gemm(**options):
    return triton.compile(gemm_source(), target=SM_90, options={"num_warps": 4, "num_stages": 3, **options})


def fresh_cache():
    """An empty cache folder for Triton and the drop-in, until it is cleaned up."""
    folder = tempfile.TemporaryDirectory()
    triton.knobs.cache.dir = folder.name
    return folder


HERE = pathlib.Path(__file__).resolve().parent
