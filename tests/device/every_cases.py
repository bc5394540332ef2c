"""The cases of every.py: each bundled kernel with a product, kernels collected from PyTorch and from Triton's users, and the forms of Triton's tutorials.

A case is made on demand. `CASES` has the makers by name; the first word of a name is the origin of the kernel.
"""

import dataclasses
import functools

import torch
import triton
import triton.language as tl

import dropin_kernels as kernels  # noqa: I001 (puts the folders of kernels on the path)
import dropin_rows as rows
import ttgir_cases as measured

# Options with which plain Triton's kernel fits, for kernels whose own options have too many stages for this GPU.
ROOM = {"fa_fwd_bias.d128_causal": {"num_stages": 2}, "fa_fwd_bias.d128_desc": {"num_stages": 2}}


@dataclasses.dataclass
class Every:
    """A case, and the tensors that each launch leaves equal. clean: work before a launch whose results are compared."""

    case: rows.Case
    alike: list
    clean: object

    def left(self):
        """The results of a launch in memory."""
        self.clean()
        torch.cuda.synchronize()
        self.case.launch()
        torch.cuda.synchronize()
        return [tensor.clone() for tensor in self.alike]


def of_row(make, *arguments, **more):
    case = make(*arguments, **more)

    def clean():
        for output in case.outputs:
            output.fill_(float("nan"))
    return Every(case, case.outputs, clean)


def bundled(name):
    """A kernel of `kernels/`, launched as in bench/gpu/ttgir.py, at its first size."""
    make, _, sizes = measured.CASES[name]
    one = make(*sizes[0])

    def clean():
        for out in one.outs:
            out.tensor.fill_(out.before)
    case = rows.Case(f"{name} {'x'.join(map(str, sizes[0]))}", functools.partial(one.call, **ROOM.get(name, {})), [out.tensor for out in one.outs], one.flops)

    def reference():  # of the outputs that launches leave alike
        return [wanted for wanted, out in zip(one.reference(), one.outs) if out.exact]
    return Every(dataclasses.replace(case, reference=reference), [out.tensor for out in one.outs if out.exact], clean)


@triton.jit
def inductors_product(arg_A, arg_B, out_ptr0, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      RELU: tl.constexpr):
    """PyTorch's template of a product, with constant sizes."""
    program = tl.program_id(0)
    down, across = (M + BM - 1) // BM, (N + BN - 1) // BN
    width = 8 * across
    group = program // width
    size = min(down - group * 8, 8)
    row, column = group * 8 + program % size, program % width // size
    tl.assume(row >= 0)
    tl.assume(column >= 0)
    rm, rn = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    am, bn = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM), tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    along = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        a = tl.load(arg_A + ((along[None, :] + step * BK) + K * am[:, None]))
        b = tl.load(arg_B + (bn[None, :] + N * (along[:, None] + step * BK)))
        acc += tl.dot(a, b, allow_tf32=False, out_dtype=tl.float32)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    if RELU:
        acc = tl.where(0.0 > acc, 0.0, acc)
    tl.store(out_ptr0 + (rn[None, :] + N * rm[:, None]), acc, mask)


def template(m, n, k, bm, bn, bk, warps, stages, relu=False):
    a, b, c = (make(*shape).to(torch.bfloat16) for make, shape in ((rows.random, (m, k)), (rows.random, (k, n)), (rows.empty, (m, n))))

    def launch():
        inductors_product[(triton.cdiv(m, bm) * triton.cdiv(n, bn), )](a, b, c, M=m, N=n, K=k, BM=bm, BN=bn, BK=bk, RELU=relu, num_warps=warps, num_stages=stages)
    name = f"template {bm}x{bn}x{bk} w{warps}{' relu' if relu else ''} {m}x{n}x{k}"
    return rows.Case(name, launch, [c], 2.0 * m * n * k, lambda: [(lambda exact: torch.relu(exact) if relu else exact)(a.double() @ b.double())])


def pointers(m, n, k, bm, bn, bk, warps, stages):
    """The form of tutorial 03."""
    a, b, c = rows.random(m, k), rows.random(k, n), rows.empty(m, n)

    def launch():
        rows.gemm.gemm_ptr[(triton.cdiv(m, bm) * triton.cdiv(n, bn), )](a, b, c, m, n, k, k, n, n, BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps, num_stages=stages)
    return rows.Case(f"pointers {bm}x{bn}x{bk} w{warps} {m}x{n}x{k}", launch, [c], 2.0 * m * n * k, lambda: [a.double() @ b.double()])


def forward(tokens, heads, d, bm, bn, warps, stages, causal):
    """The form of tutorial 06, with one of its configurations."""
    q, k, v, o = (make(heads * tokens, d) for make in (rows.random, rows.random, rows.random, rows.empty))
    lse = torch.full((heads * tokens, ), float("nan"), device="cuda")
    grid, options = (tokens // bm, heads), {"BM": bm, "BN": bn, "D": d, "num_warps": warps, "num_stages": stages}

    def launch():
        tiles = [rows.described(tensor, rows_, d) for tensor, rows_ in ((q, bm), (k, bn), (v, bn), (o, bm))]
        if causal:
            rows.fa_fwd_causal.fa_fwd_causal[grid](*tiles, d**-0.5, tokens, **options)
        else:
            rows.fa_fwd.fa_fwd[grid](*tiles, lse, d**-0.5, tokens, WS=False, **options)

    def reference():  # of the first head
        if causal:
            return rows.causal_reference(q, k, v, tokens)
        return [torch.softmax(q[:tokens].double() @ k[:tokens].double().T * d**-0.5, -1) @ v[:tokens].double()]
    outputs = [o] if causal else [o, lse]
    return rows.Case(f"{'causal ' if causal else ''}attention d{d} {bm}x{bn} w{warps} {heads}x{tokens}", launch, outputs, (2.0 if causal else 4.0) * heads * tokens**2 * d, reference)


def masked_flex(heads, tokens, d=128):
    """flex_attention with a causal block mask, whose template has two loops."""
    from torch.nn.attention.flex_attention import create_block_mask

    q, k, v = (rows.random(1, heads, tokens, d) for _ in range(3))
    mask = create_block_mask(_causal, None, None, tokens, tokens, device="cuda")

    def reference():
        return [torch.nn.functional.scaled_dot_product_attention(*(t[:, :1].double() for t in (q, k, v)), is_causal=True)]
    return kernels.compiled_case(f"flex attention causal {heads}x{tokens}", _flex_masked, (q, k, v, mask), 2.0 * heads * tokens**2 * d, reference)


def _causal(batch, head, row, column):
    return row >= column


def _flex_masked(q, k, v, mask):
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v, block_mask=mask).transpose(0, 1)  # heads first, some of which the reference has


# Tiles of PyTorch's products in the harvested texts, all of 4096 x 4096 x 2048, with the warps there; stages are those of PyTorch's list.
TEMPLATES = [(64, 32, 128, 4, 5), (128, 128, 32, 4, 3), (128, 128, 128, 8, 4), (64, 64, 32, 4, 2), (128, 64, 32, 8, 4), (64, 128, 32, 4, 3), (32, 64, 32, 8, 5),
             (64, 128, 64, 4, 3), (64, 64, 64, 8, 3), (128, 128, 32, 8, 2), (128, 64, 32, 4, 3), (64, 64, 16, 4, 2), (128, 128, 64, 4, 3), (64, 128, 32, 8, 4),
             (64, 32, 32, 8, 5), (32, 32, 128, 4, 2), (64, 128, 128, 4, 4), (128, 128, 64, 8, 5), (64, 64, 128, 4, 5), (32, 32, 16, 2, 1)]


def _cases():
    made = {f"bundled {name}": functools.partial(bundled, name) for name in measured.CASES}

    def add(where, name, make, *arguments, **more):
        made[f"{where} {name}"] = functools.partial(of_row, make, *arguments, **more)
    for bm, bn, bk, warps, stages in TEMPLATES:
        add("harvested", f"mm {bm}x{bn}x{bk} w{warps}", template, 4096, 4096, 2048, bm, bn, bk, warps, stages)
    add("harvested", "mm relu 128x128x64 w4", template, 4096, 4096, 2048, 128, 128, 64, 4, 3, relu=True)
    for bm, bn, warps, stages in ((128, 128, 8, 3), (64, 128, 4, 4), (64, 256, 4, 4)):
        add("harvested", f"gemm_tma {bm}x{bn} w{warps}", rows.gemm_case, 4096, 4096, 4096, bm, bn, warps, stages)
    for size in ((4096, 4096, 4096), (4000, 4000, 4000), (4096, 4096, 1000)):  # the texts differ in the known facts about sizes
        add("harvested", f"gemm_ptr {'x'.join(map(str, size))}", pointers, *size, 128, 128, 64, 8, 3)
    for d, bm, bn, warps, causal in ((128, 128, 64, 8, False), (128, 64, 64, 4, False), (64, 128, 64, 4, False)):
        add("harvested", f"attention d{d} {bm}x{bn} w{warps}", forward, 4096, 32, d, bm, bn, warps, 3, causal)
    for bm, bn, bk, warps, stages in ((128, 256, 64, 8, 3), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 32, 32, 2, 5)):
        add("tutorial", f"03 {bm}x{bn}x{bk} w{warps}", pointers, 4096, 4096, 4096, bm, bn, bk, warps, stages)
    for d, bm, bn, warps, causal in ((128, 128, 64, 8, True), (128, 64, 64, 4, True), (64, 128, 128, 8, True), (64, 128, 64, 4, True), (64, 64, 64, 4, False)):
        add("tutorial", f"06 {'causal ' if causal else ''}d{d} {bm}x{bn} w{warps}", forward, 4096, 32, d, bm, bn, warps, 3, causal)
    add("tutorial", "08 grouped", kernels.grouped_case)
    add("tutorial", "09 persistent pointers", kernels.persistent_pointers_case, 4096)
    add("tutorial", "09 persistent descriptors", rows.persistent_case, 4096, 4096, 4096, 128, 256, 8)
    add("tutorial", "09 descriptors of the device", kernels.device_descriptors_case, 4096)
    add("harvested", "flex attention", kernels.flex_case, 64, 4096)
    add("harvested", "flex attention causal", masked_flex, 16, 4096)
    return made


CASES = _cases()
COMPILES_ALONE = ("harvested flex",)  # PyTorch's compiler keeps its results in the process
