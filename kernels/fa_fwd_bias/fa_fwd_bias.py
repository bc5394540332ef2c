# Flash attention forward with an additive bias [heads, n_ctx, n_ctx] and a causal mask, online softmax, Q, K, V and O by TMA descriptors. Triton reads the bias in
# another register layout than the scores, and computes the whole softmax twice, once in each layout.
import triton
import triton.language as tl
from common import both, desc, rel


@triton.jit
def fa_fwd_bias(q_desc, k_desc, v_desc, o_desc, bias_ptr, scale, n_ctx, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row0 = tl.program_id(1) * n_ctx
    begin = tl.program_id(0) * BM
    offs_m = begin + tl.arange(0, BM)
    offs_n = tl.arange(0, BN)
    qk_scale = scale * 1.4426950408889634
    q = q_desc.load([row0 + begin, 0])
    m_i = tl.full([BM], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    bias_row = bias_ptr + (row0 + offs_m[:, None]) * n_ctx + offs_n[None, :]
    for j in tl.range(0, begin + BM, BN):
        k = k_desc.load([row0 + j, 0])
        s = tl.dot(q, k.T)
        bias = tl.load(bias_row + j)
        s = s * qk_scale + bias.to(tl.float32) * 1.4426950408889634
        s = tl.where(offs_m[:, None] >= j + offs_n[None, :], s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = v_desc.load([row0 + j, 0])
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_new
    acc = acc / l_i[:, None]
    o_desc.store([row0 + begin, 0], acc.to(tl.float16))


@triton.jit
def fa_fwd_bias_desc(q_desc, k_desc, v_desc, o_desc, bias_desc, scale, n_ctx, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    # Without the mask, and with the bias by a descriptor.
    row0 = tl.program_id(1) * n_ctx
    m0 = row0 + tl.program_id(0) * BM
    qk_scale = scale * 1.4426950408889634
    q = q_desc.load([m0, 0])
    m_i = tl.full([BM], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    for j in tl.range(0, n_ctx, BN):
        k = k_desc.load([row0 + j, 0])
        s = tl.dot(q, k.T)
        bias = bias_desc.load([m0, j])
        s = s * qk_scale + bias.to(tl.float32) * 1.4426950408889634
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = v_desc.load([row0 + j, 0])
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_new
    acc = acc / l_i[:, None]
    o_desc.store([m0, 0], acc.to(tl.float16))


def spec(variant, bm, bn, d, opts):
    return dict(
        variant=variant, fn=fa_fwd_bias, const=dict(BM=bm, BN=bn, D=d), opts=opts,
        sig=dict(q_desc=desc("fp16", [bm, d]), k_desc=desc("fp16", [bn, d]), v_desc=desc("fp16", [bn, d]), o_desc=desc("fp16", [bm, d]), bias_ptr="*fp16", scale="fp32",
                 n_ctx="i32"))


def spec_desc(variant, bm, bn, d, opts):
    return dict(
        variant=variant, fn=fa_fwd_bias_desc, const=dict(BM=bm, BN=bn, D=d), opts=opts,
        sig=dict(q_desc=desc("fp16", [bm, d]), k_desc=desc("fp16", [bn, d]), v_desc=desc("fp16", [bn, d]), o_desc=desc("fp16", [bm, d]),
                 bias_desc=desc("fp16", [bm, bn]), scale="fp32", n_ctx="i32"))


SPECS = [
    spec("d128_causal", 128, 128, 128, both(8, 3)),
    spec("d64_causal", 128, 64, 64, {90: dict(num_warps=4, num_stages=3)}),
    spec_desc("d128_desc", 128, 128, 128, {90: dict(num_warps=8, num_stages=3)}),
    spec_desc("d64_desc", 128, 64, 64, both(4, 3)),
]


def run(torch, q, k, v, bias, bm, bn, w, causal):
    from triton.tools.tensor_descriptor import TensorDescriptor as TD
    B, H, S, D = q.shape
    o = torch.empty_like(q)
    f = lambda t, b: TD.from_tensor(t.view(B * H * S, t.shape[-1]), b)
    args = (f(q, [bm, D]), f(k, [bn, D]), f(v, [bn, D]), f(o, [bm, D]))
    if causal:
        fa_fwd_bias[(S // bm, B * H)](*args, bias, D**-0.5, S, BM=bm, BN=bn, D=D, num_warps=w, num_stages=3)
    else:
        fa_fwd_bias_desc[(S // bm, B * H)](*args, f(bias, [bm, bn]), D**-0.5, S, BM=bm, BN=bn, D=D, num_warps=w, num_stages=3)
    return o


def reference(torch, q, k, v, bias, causal):
    s = q.double() @ k.double().transpose(-1, -2) * q.shape[-1]**-0.5 + bias.double()
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(s, -1) @ v.double()


def check(torch):
    res = {}
    for d, bn, w in ((128, 128, 8), (64, 64, 4)):
        q, k, v = (torch.randn(2, 2, 512, d, device="cuda", dtype=torch.float16) for _ in range(3))
        bias = torch.randn(2, 2, 512, 512, device="cuda", dtype=torch.float16)
        for causal in (True, False):
            res[f"d{d}{'_causal' if causal else '_desc'}"] = rel(run(torch, q, k, v, bias, 128, bn, w, causal), reference(torch, q, k, v, bias, causal))
    return res
