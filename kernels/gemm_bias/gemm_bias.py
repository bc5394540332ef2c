# GEMM with an epilogue: C = act(A B + bias), with the bias read through pointers after the loop. A or B may be transposed.
import triton
import triton.language as tl
from common import both, desc, rel


@triton.jit
def gemm_bias(a_desc, b_desc, c_desc, bias_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TA: tl.constexpr, TB: tl.constexpr,
              SILU: tl.constexpr):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in tl.range(0, K, BK):
        if TA:
            a = a_desc.load([k, m0]).T
        else:
            a = a_desc.load([m0, k])
        if TB:
            b = b_desc.load([n0, k]).T
        else:
            b = b_desc.load([k, n0])
        acc = tl.dot(a, b, acc)
    acc += tl.load(bias_ptr + n0 + tl.arange(0, BN)).to(tl.float32)[None, :]
    if SILU:
        acc = acc * tl.sigmoid(acc)
    else:
        acc = tl.maximum(acc, 0.0)
    c_desc.store([m0, n0], acc.to(tl.bfloat16))


def spec(variant, bm, bn, bk, ta, tb, silu, opts):
    sig = dict(a_desc=desc("bf16", [bk, bm] if ta else [bm, bk]), b_desc=desc("bf16", [bn, bk] if tb else [bk, bn]), c_desc=desc("bf16", [bm, bn]),
               bias_ptr="*bf16", K="i32")
    return dict(variant=variant, fn=gemm_bias, const=dict(BM=bm, BN=bn, BK=bk, TA=ta, TB=tb, SILU=silu), opts=opts, sig=sig)


SPECS = [
    spec("nn_128x128x64", 128, 128, 64, False, False, False, both(8, 3)),
    spec("tt_256x128x32", 256, 128, 32, True, True, True, both(8, 3)),
]


def run(torch, a, b, bias, s):
    from triton.tools.tensor_descriptor import TensorDescriptor as TD
    c, const = torch.empty(a.shape[0], b.shape[1], device="cuda", dtype=torch.bfloat16), s["const"]
    bm, bn, bk = const["BM"], const["BN"], const["BK"]
    da = TD.from_tensor(a.T.contiguous(), [bk, bm]) if const["TA"] else TD.from_tensor(a, [bm, bk])
    db = TD.from_tensor(b.T.contiguous(), [bn, bk]) if const["TB"] else TD.from_tensor(b, [bk, bn])
    gemm_bias[(a.shape[0] // bm, b.shape[1] // bn)](da, db, TD.from_tensor(c, [bm, bn]), bias, a.shape[1], **const, **s["opts"][90])
    return c


def check(torch):
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) * 0.3 for _ in range(2))
    bias = torch.randn(512, device="cuda", dtype=torch.bfloat16)
    ref = a.double() @ b.double() + bias.double()
    act = {False: torch.relu(ref), True: torch.nn.functional.silu(ref)}
    return {s["variant"]: rel(run(torch, a, b, bias, s), act[s["const"]["SILU"]]) for s in SPECS}
