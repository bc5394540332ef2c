"""Six more Gluon kernels whose TTGIR stands beside this file, made as kernels.py says: a ring that two producers fill, rings of different depth
with a ring of boxes to store, causal attention with an early exit, while loops over a loaded number, partial sums, and a chain of three roles.
Usage, with Triton 3.6: chains.py FOLDER
"""
import pathlib
import sys

from kernels import desc, make
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


# a ring that two producers fill (slots and phases carried), persistent
@gluon.jit
def pa_load(d, Xs, full, empty, mt, tiles, N, W: gl.constexpr, D: gl.constexpr):
    s = 0
    p = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            mbarrier.wait(empty.index(s), p)
            mbarrier.expect(full.index(s), d.block_type.nbytes)
            if W == 0:
                tma.async_copy_global_to_shared(d, [(tile % mt) * 64, n * 64], full.index(s), Xs.index(s))
            else:
                tma.async_copy_global_to_shared(d, [n * 64, (tile // mt) * 128], full.index(s), Xs.index(s))
            s += 1
            if s == D:
                s = 0
                p = p ^ 1


@gluon.jit
def pa_wg(c, As, Bs, full, empty, mt, tiles, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    s = 0
    p = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            mbarrier.wait(full.index(s), p)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            s += 1
            if s == D:
                s = 0
                p = p ^ 1
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def producers(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=2)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (pa_wg, (c, As, Bs, full, empty, mt, tiles, N, D)),
        (pa_load, (a, As, full, empty, mt, tiles, N, 0, D)),
        (pa_load, (b, Bs, full, empty, mt, tiles, N, 1, D)),
    ], [1, 1], [24, 24])
    for i in gl.static_range(D):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))


# two rings of different depth and an epilogue role with a ring of stores, persistent, counters
@gluon.jit
def td_load(a, b, As, Bs, af, ae, bf, be, mt, tiles, N, DA: gl.constexpr, DB: gl.constexpr):
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            s = i % DA
            mbarrier.wait(ae.index(s), ((i // DA) & 1) ^ 1)
            mbarrier.expect(af.index(s), a.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 64, n * 64], af.index(s), As.index(s))
            t = i % DB
            mbarrier.wait(be.index(t), ((i // DB) & 1) ^ 1)
            mbarrier.expect(bf.index(t), b.block_type.nbytes)
            tma.async_copy_global_to_shared(b, [n * 64, (tile // mt) * 128], bf.index(t), Bs.index(t))
            i += 1


@gluon.jit
def td_wg(As, Bs, Cs, af, ae, bf, be, cf, ce, tiles, N, DA: gl.constexpr, DB: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    k = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            s = i % DA
            t = i % DB
            mbarrier.wait(af.index(s), (i // DA) & 1)
            mbarrier.wait(bf.index(t), (i // DB) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(t), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(ae.index(s), count=1)
            mbarrier.arrive(be.index(t), count=1)
            i += 1
        u = k & 1
        mbarrier.wait(ce.index(u), ((k >> 1) & 1) ^ 1)
        Cs.index(u).store(acc.to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(cf.index(u), count=1)
        k += 1


@gluon.jit
def td_store(c, Cs, cf, ce, mt, tiles):
    k = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        u = k & 1
        mbarrier.wait(cf.index(u), (k >> 1) & 1)
        tma.async_copy_shared_to_global(c, [(tile % mt) * 64, (tile // mt) * 128], Cs.index(u))
        tma.store_wait(0)
        mbarrier.arrive(ce.index(u), count=1)
        k += 1


@gluon.jit
def depths(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [3, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    Cs = gl.allocate_shared_memory(gl.float16, [2, 64, 128], c.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    af = gl.allocate_shared_memory(gl.int64, [3, 1], M)
    ae = gl.allocate_shared_memory(gl.int64, [3, 1], M)
    bf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    be = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    cf = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    ce = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    for i in gl.static_range(3):
        mbarrier.init(af.index(i), count=1)
        mbarrier.init(ae.index(i), count=1)
    for i in gl.static_range(D):
        mbarrier.init(bf.index(i), count=1)
        mbarrier.init(be.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(cf.index(i), count=1)
        mbarrier.init(ce.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (td_wg, (As, Bs, Cs, af, ae, bf, be, cf, ce, tiles, N, 3, D)),
        (td_load, (a, b, As, Bs, af, ae, bf, be, mt, tiles, N, 3, D)),
        (td_store, (c, Cs, cf, ce, mt, tiles)),
    ], [1, 1], [24, 24])


# causal, with an early exit for blocks without a query, K and V in rings with carried slots
@gluon.jit
def ce_load(q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D: gl.constexpr):
    mbarrier.expect(qf, q.block_type.nbytes)
    tma.async_copy_global_to_shared(q, [m0, 0], qf, Qs)
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
            p = p ^ 1


@gluon.jit
def ce_wg(o, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    A: gl.constexpr = gl.DotOperandLayout(0, L, 2)
    acc = gl.zeros([64, 64], gl.float32, L)
    zero = gl.zeros([64, 64], gl.float32, L)
    l = gl.zeros([64], gl.float32, gl.SliceLayout(1, L))
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    mbarrier.wait(qf, 0)
    s = 0
    p = 0
    for n in range(N):
        mbarrier.wait(kf.index(s), p)
        S = warpgroup_mma(Qs, Ks.index(s).permute((1, 0)), zero, is_async=True)
        S = warpgroup_mma_wait(0, deps=[S])
        mbarrier.arrive(ke.index(s), count=1)
        S = gl.where(rows[:, None] >= (n * 64 + cols)[None, :], S, -1.0e6)
        P = gl.exp2(S)
        l += gl.sum(P, 1)
        mbarrier.wait(vf.index(s), p)
        acc = warpgroup_mma(gl.convert_layout(P.to(gl.float16), A), Vs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(ve.index(s), count=1)
        s += 1
        if s == D:
            s = 0
            p = p ^ 1
    gl.store(o + rows[:, None] * 64 + cols[None, :], (acc / l[:, None]).to(gl.float16))


@gluon.jit
def early(q, k, v, o, S, D: gl.constexpr):
    m0 = gl.program_id(0) * 64
    if m0 >= S:
        return
    N = gl.cdiv(m0 + 64, 64)
    Qs = gl.allocate_shared_memory(gl.float16, [64, 64], q.layout)
    Ks = gl.allocate_shared_memory(gl.float16, [D, 64, 64], k.layout)
    Vs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], v.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    qf = gl.allocate_shared_memory(gl.int64, [1], M)
    kf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ke = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    vf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ve = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    mbarrier.init(qf, count=1)
    for i in gl.static_range(D):
        mbarrier.init(kf.index(i), count=1)
        mbarrier.init(ke.index(i), count=1)
        mbarrier.init(vf.index(i), count=1)
        mbarrier.init(ve.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (ce_wg, (o, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D)),
        (ce_load, (q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D)),
    ], [1], [24])


# while loops over a loaded number of blocks; two consumers of halves, full barriers split by operand
@gluon.jit
def wl_load(a, b, lens, As, Bs, af, bf, empty, m0, n0, D: gl.constexpr):
    left = gl.load(lens + gl.program_id(0))
    n = 0
    while left > 0:
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(af.index(s), a.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 64], af.index(s), As.index(s))
        mbarrier.expect(bf.index(s), b.block_type.nbytes)
        tma.async_copy_global_to_shared(b, [n * 64, n0], bf.index(s), Bs.index(s))
        n += 1
        left -= 1


@gluon.jit
def wl_wg(c, lens, As, Bs, af, bf, empty, m0, n0, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    left = gl.load(lens + gl.program_id(0))
    n = 0
    while left > 0:
        s = n % D
        mbarrier.wait(af.index(s), (n // D) & 1)
        mbarrier.wait(bf.index(s), (n // D) & 1)
        acc = warpgroup_mma(As.index(s).slice(64 * W, 64, dim=0), Bs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(empty.index(s), count=1)
        n += 1
        left -= 1
    rows = m0 + 64 * W + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def loaded(a, b, c, lens, D: gl.constexpr):
    m0 = gl.program_id(0) * 128
    n0 = gl.program_id(1) * 128
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    af = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    bf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(af.index(i), count=1)
        mbarrier.init(bf.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (wl_wg, (c, lens, As, Bs, af, bf, empty, m0, n0, 0, D)),
        (wl_wg, (c, lens, As, Bs, af, bf, empty, m0, n0, 1, D)),
        (wl_load, (a, b, lens, As, Bs, af, bf, empty, m0, n0, D)),
    ], [4, 1], [240, 24])


# persistent split-K: TMA reduces the tile into C, a ring of two output tiles, one role for both
@gluon.jit
def ra_load(a, b, As, Bs, full, empty, mt, parts, tiles, N, D: gl.constexpr):
    i = 0
    for work in range(gl.program_id(0), tiles, gl.num_programs(0)):
        tile = work // parts
        k0 = (work % parts) * N * 64
        for n in range(N):
            s = i & (D - 1)
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 64, k0 + n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [k0 + n * 64, (tile // mt) * 64], full.index(s), Bs.index(s))
            i += 1


@gluon.jit
def ra_wg(c, As, Bs, Cs, full, empty, mt, parts, tiles, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    i = 0
    k = 0
    for work in range(gl.program_id(0), tiles, gl.num_programs(0)):
        tile = work // parts
        acc = gl.zeros([64, 64], gl.float32, L)
        for n in range(N):
            s = i & (D - 1)
            mbarrier.wait(full.index(s), (i // D) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
        tma.store_wait(1)
        Cs.index(k % 2).store(acc)
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [(tile % mt) * 64, (tile // mt) * 64], Cs.index(k % 2))
        k += 1
    tma.store_wait(0)


@gluon.jit
def partsums(a, b, c, mt, parts, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], b.layout)
    Cs = gl.allocate_shared_memory(gl.float32, [2, 64, 64], c.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (ra_wg, (c, As, Bs, Cs, full, empty, mt, parts, tiles, N, D)),
        (ra_load, (a, b, As, Bs, full, empty, mt, parts, tiles, N, D)),
    ], [1], [24])


# a chain of three roles: copies, scaling into a second ring (slots carried), products with lag one
@gluon.jit
def ch_load(a, b, Xs, Bs, xf, xe, bf, be, m0, n0, N, D: gl.constexpr):
    s = 0
    p = 1
    for n in range(N):
        mbarrier.wait(xe.index(n % 2), ((n // 2) & 1) ^ 1)
        mbarrier.expect(xf.index(n % 2), a.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 64], xf.index(n % 2), Xs.index(n % 2))
        mbarrier.wait(be.index(s), p)
        mbarrier.expect(bf.index(s), b.block_type.nbytes)
        tma.async_copy_global_to_shared(b, [n * 64, n0], bf.index(s), Bs.index(s))
        s += 1
        if s == D:
            s = 0
            p = p ^ 1


@gluon.jit
def ch_scale(Xs, Ys, xf, xe, yf, ye, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    s = 0
    p = 1
    for n in range(N):
        mbarrier.wait(xf.index(n % 2), (n // 2) & 1)
        x = Xs.index(n % 2).load(L)
        mbarrier.arrive(xe.index(n % 2), count=1)
        mbarrier.wait(ye.index(s), p)
        Ys.index(s).store((x.to(gl.float32) * 0.5).to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(yf.index(s), count=1)
        s += 1
        if s == D:
            s = 0
            p = p ^ 1


@gluon.jit
def ch_wg(c, Ys, Bs, yf, ye, bf, be, m0, n0, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    s = 0
    p = 0
    last = 0
    for n in range(N):
        mbarrier.wait(yf.index(s), p)
        mbarrier.wait(bf.index(s), p)
        acc = warpgroup_mma(Ys.index(s), Bs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        mbarrier.arrive(ye.index(last), count=1, pred=n > 0)
        mbarrier.arrive(be.index(last), count=1, pred=n > 0)
        last = s
        s += 1
        if s == D:
            s = 0
            p = p ^ 1
    acc = warpgroup_mma_wait(0, deps=[acc])
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def chain(a, b, c, K, D: gl.constexpr):
    m0 = gl.program_id(0) * 64
    n0 = gl.program_id(1) * 128
    N = gl.cdiv(K, 64)
    Xs = gl.allocate_shared_memory(gl.float16, [2, 64, 64], a.layout)
    Ys = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    xf = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    xe = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    yf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ye = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    bf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    be = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(2):
        mbarrier.init(xf.index(i), count=1)
        mbarrier.init(xe.index(i), count=1)
    for i in gl.static_range(D):
        mbarrier.init(yf.index(i), count=1)
        mbarrier.init(ye.index(i), count=1)
        mbarrier.init(bf.index(i), count=1)
        mbarrier.init(be.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (ch_wg, (c, Ys, Bs, yf, ye, bf, be, m0, n0, N, D)),
        (ch_load, (a, b, Xs, Bs, xf, xe, bf, be, m0, n0, N, D)),
        (ch_scale, (Xs, Ys, xf, xe, yf, ye, N, D)),
    ], [1, 4], [24, 96])


def main():
    folder = pathlib.Path(sys.argv[1])
    half, wide, tile, sums = desc([64, 64]), desc([64, 128]), desc([128, 64]), desc([64, 64], "fp32", gl.float32)
    tiles = {"mt": "i32", "tiles": "i32", "K": "i32"}
    for kernel, signature, depth in [
        (producers, {"a": half, "b": wide, "c": "*fp16", **tiles}, 3),
        (depths, {"a": half, "b": wide, "c": wide, **tiles}, 2),
        (early, {"q": half, "k": half, "v": half, "o": "*fp16", "S": "i32"}, 2),
        (loaded, {"a": tile, "b": wide, "c": "*fp16", "lens": "*i32"}, 3),
        (partsums, {"a": half, "b": half, "c": sums, "mt": "i32", "parts": "i32", "tiles": "i32", "K": "i32"}, 4),
        (chain, {"a": half, "b": wide, "c": "*fp16", "K": "i32"}, 3),
    ]:
        make(kernel, signature, depth, 90, folder)


if __name__ == "__main__":
    main()
