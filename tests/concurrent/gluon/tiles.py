"""More Gluon kernels whose TTGIR stands beside this file, made as kernels.py says: loops that count no iterations, bounds that depend on the CTA.
Usage, with Triton 3.6: tiles.py FOLDER
"""
import pathlib
import sys

from kernels import desc, make
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


# Causal attention: the loader goes over all blocks in one loop, consumers in two
@gluon.jit
def ca_load(q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, BM: gl.constexpr, D: gl.constexpr):
    m0 = gl.program_id(0) * BM
    for w in gl.static_range(2):
        mbarrier.expect(qf.index(w), 64 * 64 * 2)
        tma.async_copy_global_to_shared(q, [m0 + 64 * w, 0], qf.index(w), Qs.index(w))
    N = gl.cdiv(m0 + BM, 64)
    s = 0
    p = 1
    for n in range(N):
        mbarrier.wait(ke.index(s), p)
        mbarrier.expect(kf.index(s), k.block_type.nbytes)
        tma.async_copy_global_to_shared(k, [n * 64, 0], kf.index(s), Ks.index(s))
        mbarrier.wait(ve.index(s), p)
        mbarrier.expect(vf.index(s), v.block_type.nbytes)
        tma.async_copy_global_to_shared(v, [n * 64, 0], vf.index(s), Vs.index(s))
        s += 1
        if s == D:
            s = 0
            p ^= 1


@gluon.jit
def ca_step(Q, Ks, Vs, kf, ke, vf, ve, acc, l, s, p, rows, n, L: gl.constexpr, MASK: gl.constexpr):
    mbarrier.wait(kf.index(s), p)
    S = warpgroup_mma(Q, Ks.index(s).permute((1, 0)), gl.zeros([64, 64], gl.float32, L), is_async=True)
    S = warpgroup_mma_wait(0, deps=[S])
    mbarrier.arrive(ke.index(s), count=1)
    if MASK:
        cols = n * 64 + gl.arange(0, 64, gl.SliceLayout(0, L))
        S = gl.where(rows[:, None] >= cols[None, :], S, -1e30)
    P = gl.exp2(S)
    l = l + gl.sum(P, 1)
    mbarrier.wait(vf.index(s), p)
    A = gl.convert_layout(P.to(gl.float16), gl.DotOperandLayout(0, L, 2))
    acc = warpgroup_mma(A, Vs.index(s), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=[acc])
    mbarrier.arrive(ve.index(s), count=1)
    return acc, l


@gluon.jit
def ca_wg(o, Qs, Ks, Vs, qf, kf, ke, vf, ve, W: gl.constexpr, BM: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    m0 = gl.program_id(0) * BM
    rows = m0 + 64 * W + gl.arange(0, 64, gl.SliceLayout(1, L))
    acc = gl.zeros([64, 64], gl.float32, L)
    l = gl.zeros([64], gl.float32, gl.SliceLayout(1, L))
    mbarrier.wait(qf.index(W), 0)
    full = m0 // 64
    N = gl.cdiv(m0 + BM, 64)
    s = 0
    p = 0
    for n in range(full):
        acc, l = ca_step(Qs.index(W), Ks, Vs, kf, ke, vf, ve, acc, l, s, p, rows, n, L, False)
        s += 1
        if s == D:
            s = 0
            p ^= 1
    for n in range(full, N):
        acc, l = ca_step(Qs.index(W), Ks, Vs, kf, ke, vf, ve, acc, l, s, p, rows, n, L, True)
        s += 1
        if s == D:
            s = 0
            p ^= 1
    acc = acc / l[:, None]
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    gl.store(o + rows[:, None] * 64 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def causal(q, k, v, o, S, D: gl.constexpr):
    Qs = gl.allocate_shared_memory(gl.float16, [2, 64, 64], q.layout)
    Ks = gl.allocate_shared_memory(gl.float16, [D, 64, 64], k.layout)
    Vs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], v.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    qf = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    kf = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    ke = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    vf = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    ve = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    for i in gl.static_range(2):
        mbarrier.init(qf.index(i), count=1)
    for i in gl.static_range(D):
        mbarrier.init(kf.index(i), count=1)
        mbarrier.init(ke.index(i), count=2)
        mbarrier.init(vf.index(i), count=1)
        mbarrier.init(ve.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (ca_wg, (o, Qs, Ks, Vs, qf, kf, ke, vf, ve, 0, 128, D)),
        (ca_wg, (o, Qs, Ks, Vs, qf, kf, ke, vf, ve, 1, 128, D)),
        (ca_load, (q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, 128, D)),
    ], [4, 1], [240, 24])


# Products of groups, of differing sizes, one behind the other: tiles go on from group to group
@gluon.jit
def gg_load(a, b, ms, As, Bs, full, empty, G, nt, N, D: gl.constexpr):
    tile = gl.program_id(0)
    last = 0
    i = 0
    for g in range(G):
        tiles = gl.cdiv(gl.load(ms + g), 64) * nt
        while tile >= last and tile < last + tiles:
            t = tile - last
            for n in range(N):
                s = i % D
                mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
                mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
                tma.async_copy_global_to_shared(a, [(t // nt) * 64, n * 64], full.index(s), As.index(s))
                tma.async_copy_global_to_shared(b, [n * 64, (t % nt) * 128], full.index(s), Bs.index(s))
                i += 1
            tile += gl.num_programs(0)
        last += tiles


@gluon.jit
def gg_wg(c, ms, As, Bs, full, empty, G, nt, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    tile = gl.program_id(0)
    last = 0
    i = 0
    for g in range(G):
        tiles = gl.cdiv(gl.load(ms + g), 64) * nt
        while tile >= last and tile < last + tiles:
            t = tile - last
            acc = gl.zeros([64, 128], gl.float32, L)
            for n in range(N):
                s = i % D
                mbarrier.wait(full.index(s), (i // D) & 1)
                acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
                acc = warpgroup_mma_wait(0, deps=[acc])
                mbarrier.arrive(empty.index(s), count=1)
                i += 1
            rows = (t // nt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
            cols = (t % nt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
            gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))
            tile += gl.num_programs(0)
        last += tiles


@gluon.jit
def grouped(a, b, c, ms, G, nt, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (gg_wg, (c, ms, As, Bs, full, empty, G, nt, N, D)),
        (gg_load, (a, b, ms, As, Bs, full, empty, G, nt, N, D)),
    ], [1], [24])


# Tiles are drawn from a counter by a role of its own; -1 ends
@gluon.jit
def dr_next(Ts, tf, te, k):
    S: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    mbarrier.wait(tf.index(k % 2), (k // 2) & 1)
    t = gl.max(Ts.index(k % 2).load(S), 0)
    mbarrier.arrive(te.index(k % 2), count=1)
    return t


@gluon.jit
def dr_draw(counter, Ts, tf, te, tiles):
    S: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    k = 0
    more = True
    while more:
        t = gl.atomic_add(counter, 1)
        more = t < tiles
        mbarrier.wait(te.index(k % 2), ((k // 2) & 1) ^ 1)
        Ts.index(k % 2).store(gl.full([1], gl.where(more, t, -1), gl.int32, S))
        mbarrier.arrive(tf.index(k % 2), count=1)
        k += 1


@gluon.jit
def dr_load(a, b, As, Bs, full, empty, Ts, tf, te, mt, N, D: gl.constexpr):
    i = 0
    k = 0
    t = dr_next(Ts, tf, te, k)
    while t != -1:
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(t % mt) * 64, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n * 64, (t // mt) * 128], full.index(s), Bs.index(s))
            i += 1
        k += 1
        t = dr_next(Ts, tf, te, k)


@gluon.jit
def dr_wg(c, As, Bs, full, empty, Ts, tf, te, mt, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    k = 0
    t = dr_next(Ts, tf, te, k)
    while t != -1:
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
        rows = (t % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (t // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))
        k += 1
        t = dr_next(Ts, tf, te, k)


@gluon.jit
def drawn(a, b, c, counter, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    Ts = gl.allocate_shared_memory(gl.int32, [2, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    tf = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    te = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(tf.index(i), count=1)
        mbarrier.init(te.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (dr_wg, (c, As, Bs, full, empty, Ts, tf, te, mt, N, D)),
        (dr_load, (a, b, As, Bs, full, empty, Ts, tf, te, mt, N, D)),
        (dr_draw, (counter, Ts, tf, te, tiles)),
    ], [1, 1], [24, 24])


def main():
    folder = pathlib.Path(sys.argv[1])
    half, wide = desc([64, 64]), desc([64, 128])
    kernels = [
        (causal, {"q": half, "k": half, "v": half, "o": "*fp16", "S": "i32"}, 2, 90),
        (grouped, {"a": half, "b": wide, "c": "*fp16", "ms": "*i32", "G": "i32", "nt": "i32", "K": "i32"}, 3, 90),
        (drawn, {"a": half, "b": wide, "c": "*fp16", "counter": "*i32", "mt": "i32", "tiles": "i32", "K": "i32"}, 3, 90),
    ]
    for kernel, signature, depth, arch in kernels:
        make(kernel, signature, depth, arch, folder)


if __name__ == "__main__":
    main()
