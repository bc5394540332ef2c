"""Kernels that Triton's own warp specialization takes, whose final TTGIR stands beside this file: NAME_VERSION.ttgir, `90` for Hopper, else Blackwell.
Places in the source are taken out. Usage, with a Triton of 3.6 to 3.9: kernels.py FOLDER
"""
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def persistent(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NP: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    nm = tl.cdiv(M, BM)
    tiles = nm * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, NP, warp_specialize=True):
        pm = tile % nm
        pn = tile // nm
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            x = a.load([pm * BM, k * BK])
            y = b.load([pn * BN, k * BK])
            acc = tl.dot(x, y.T, acc)
        c.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def attn(q_desc, k_desc, v_desc, o_desc, sm_scale, n_ctx, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m0 = tl.program_id(0) * BM
    q = q_desc.load([m0, 0])
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    for n in tl.range(0, n_ctx, BN, warp_specialize=True):
        k = k_desc.load([n, 0])
        qk = tl.dot(q, k.T)
        m_ij = tl.maximum(m_i, tl.max(qk, 1) * sm_scale)
        qk = qk * sm_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_ij = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = v_desc.load([n, 0])
        acc = tl.dot(p.to(tl.float16), v, acc)
        l_i = l_i * alpha + l_ij
        m_i = m_ij
    acc = acc / l_i[:, None]
    o_desc.store([m0, 0], acc.to(tl.float16))


@triton.jit
def gated(a, b, g, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    gate = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        x = a.load([pm * BM, k])
        acc = tl.dot(x, b.load([pn * BN, k]).T, acc)
        gate = tl.dot(x, g.load([pn * BN, k]).T, gate)
    c.store([pm * BM, pn * BN], (acc * tl.sigmoid(gate)).to(tl.float16))


@triton.jit
def blockadd(a, b, s, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        x = a.load([pm * BM, k])
        y = b.load([pn * BN, k])
        w = tl.load(s + k // BK)
        acc += tl.dot(x, y.T) * w
    c.store([pm * BM, pn * BN], acc.to(tl.float16))


def without_places(text):
    """Takes loc(...) out."""
    lines = [line for line in text.split("\n") if not line.startswith("#loc")]
    kept, rest = "", "\n".join(lines)
    while " loc(" in rest:
        before, rest = rest.split(" loc(", 1)
        kept, depth, at = kept + before, 1, 0
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(rest[at], 0)
            at += 1
        rest = rest[at:]
    return kept + rest


def block(*shape):
    return f"tensordesc<fp16[{','.join(map(str, shape))}]>"


def compile_to(folder, name, kernel, signature, constants, arch):
    aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind.startswith("*") or kind == "i32"}
    source = ASTSource(kernel, {**signature, **{name: "constexpr" for name in constants}}, constants, aligned)
    made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4, "num_stages": 3})
    version = triton.__version__[:3].replace(".", "")
    (pathlib.Path(folder) / f"{name}_{version}.ttgir").write_text(without_places(made.asm["ttgir"]))


def main(folder):
    wide, narrow = {"BM": 128, "BN": 64, "BK": 64}, {"BM": 64, "BN": 64, "BK": 64}
    gated_by = {"a": block(128, 64), "b": block(64, 64), "g": block(64, 64), "c": block(128, 64), "K": "i32"}
    compile_to(folder, "gated", gated, gated_by, wide, 100)
    compile_to(folder, "gated90", gated, {**gated_by, "a": block(64, 64), "c": block(64, 64)}, narrow, 90)
    added = {"a": block(128, 64), "b": block(128, 64), "s": "*fp32", "c": block(128, 128), "K": "i32"}
    compile_to(folder, "blockadd", blockadd, added, {"BM": 128, "BN": 128, "BK": 64}, 100)
    walked = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    compile_to(folder, "persistent90", persistent, walked, {"BM": 64, "BN": 128, "BK": 64, "NP": 132}, 90)
    attends = {"q_desc": block(64, 64), "k_desc": block(128, 64), "v_desc": block(128, 64), "o_desc": block(64, 64), "sm_scale": "fp32", "n_ctx": "i32"}
    compile_to(folder, "attn90", attn, attends, {"BM": 64, "BN": 128, "D": 64}, 90)


main(sys.argv[1])
