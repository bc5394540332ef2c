# A product with further work around the loop, as in real kernels: tiles that return at once (groups of rows, as in a mixture of experts), a
# carried coordinate, a softmax of the rows, two halves stored one after the other, sums over several CTAs (split K), and a
# counter of finished tiles.
import triton
import triton.language as tl
from common import both, desc, rel


@triton.jit
def gemm_around(a_desc, b_desc, c_ptr, rows_ptr, done_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    rows = tl.load(rows_ptr)
    if m0 >= rows:
        return
    k = 0
    depth = K
    if WHAT == "split_k":
        k = tl.program_id(2) * K
        depth = k + K
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for _ in tl.range(k, depth, BK):
        acc = tl.dot(a_desc.load([m0, k]), b_desc.load([k, n0]), acc)
        k += BK
    m = m0 + tl.arange(0, BM)
    n = n0 + tl.arange(0, BN)
    out = c_ptr + m[:, None] * N + n[None, :]
    mask = (m[:, None] < rows) & (n[None, :] < N)
    if WHAT == "normalized":
        acc = tl.exp(acc - tl.max(acc, 1)[:, None])
        acc = acc / tl.sum(acc, 1)[:, None]
        tl.store(out, acc, mask=mask)
    elif WHAT == "halves":
        left, right = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
        half = c_ptr + m[:, None] * N + (n0 + tl.arange(0, BN // 2))[None, :]
        tl.store(half, left, mask=m[:, None] < rows)
        tl.store(half + BN // 2, right, mask=m[:, None] < rows)
    else:
        tl.atomic_add(out, acc, mask=mask, sem="relaxed")
    if WHAT == "counted":
        tl.atomic_add(done_ptr + tl.program_id(0), 1)


def spec(variant, opts):
    sig = dict(a_desc=desc("fp16", [128, 64]), b_desc=desc("fp16", [64, 128]), c_ptr="*fp32", rows_ptr="*i32", done_ptr="*i32", N="i32",
               K="i32")
    return dict(variant=variant, fn=gemm_around, const=dict(BM=128, BN=128, BK=64, WHAT=variant), opts=opts, sig=sig)


SPECS = [spec(variant, {90: both(8, 3)[90]}) for variant in ("normalized", "halves", "split_k", "counted")]


def run(torch, a, b, rows, s):
    from triton.tools.tensor_descriptor import TensorDescriptor as TD
    splits = 4 if s["variant"] == "split_k" else 1
    c = torch.zeros(a.shape[0], b.shape[1], device="cuda", dtype=torch.float32)
    done = torch.zeros(a.shape[0] // 128, device="cuda", dtype=torch.int32)
    count = torch.tensor([rows], device="cuda", dtype=torch.int32)
    gemm_around[(a.shape[0] // 128, b.shape[1] // 128, splits)](TD.from_tensor(a, [128, 64]), TD.from_tensor(b, [64, 128]), c, count, done,
                                                                b.shape[1], a.shape[1] // splits, **s["const"], **s["opts"][90])
    return c


def check(torch):
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) * 0.3 for _ in range(2))
    res = {}
    for s in SPECS:
        ref = a.double() @ b.double()
        if s["variant"] == "normalized":  # rows of 128 columns
            ref = torch.softmax(ref.view(512, -1, 128), -1).view(512, -1)
        ref[300:] = 0
        res[s["variant"]] = rel(run(torch, a, b, 300, s), ref)
    return res
