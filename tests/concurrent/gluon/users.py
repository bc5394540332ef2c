"""More Gluon kernels whose TTGIR stands beside this file, made as kernels.py says: the forms in which users write roles. Two consumers in turns,
a store role, tiles drawn by the loader, copies by threads, named barriers in place of mbarriers, stream-K, pages, two passes over one ring.
Usage, with Triton 3.6: users.py FOLDER
"""
import pathlib
import sys

from kernels import assembly, desc, make
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell as bw
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


# FA3-like: two consumers, turns by named barriers, S of the next block issued before softmax of this one
@gluon.jit
def pp_load(q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D: gl.constexpr):
    for w in gl.static_range(2):
        mbarrier.expect(qf.index(w), q.block_type.nbytes)
        tma.async_copy_global_to_shared(q, [m0 + 64 * w, 0], qf.index(w), Qs.index(w))
    s = 0
    p = 1
    for n in range(N):
        mbarrier.wait(ke.index(s), p)
        mbarrier.expect(kf.index(s), k.block_type.nbytes)
        tma.async_copy_global_to_shared(k, [n * 128, 0], kf.index(s), Ks.index(s))
        mbarrier.wait(ve.index(s), p)
        mbarrier.expect(vf.index(s), v.block_type.nbytes)
        tma.async_copy_global_to_shared(v, [n * 128, 0], vf.index(s), Vs.index(s))
        p = p ^ (s == D - 1)
        s = (s + 1) % D


@gluon.jit
def pp_wg(o, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, W: gl.constexpr, D: gl.constexpr):
    LS: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    LO: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    acc = gl.zeros([64, 64], gl.float32, LO)
    l = gl.zeros([64], gl.float32, gl.SliceLayout(1, LS))
    zero = gl.zeros([64, 128], gl.float32, LS)
    mbarrier.wait(qf.index(W), 0)
    if W == 1:
        assembly("bar.arrive 1, 256")
    # first S
    mbarrier.wait(kf.index(0), 0)
    if W == 0:
        assembly("bar.sync 1, 256")
    else:
        assembly("bar.sync 2, 256")
    S = warpgroup_mma(Qs.index(W), Ks.index(0).permute((1, 0)), zero, is_async=True)
    S = warpgroup_mma_wait(0, deps=[S])
    mbarrier.arrive(ke.index(0), count=1)
    if W == 0:
        assembly("bar.arrive 2, 256")
    else:
        assembly("bar.arrive 1, 256")
    s = 1 % D
    p = 0 ^ (s == 0)
    vs = 0
    vp = 0
    for n in range(1, N):
        P = gl.exp2(S)
        l += gl.sum(P, 1)
        A = gl.convert_layout(P.to(gl.float16), gl.DotOperandLayout(0, LO, 2))
        mbarrier.wait(kf.index(s), p)
        if W == 0:
            assembly("bar.sync 1, 256")
        else:
            assembly("bar.sync 2, 256")
        S = warpgroup_mma(Qs.index(W), Ks.index(s).permute((1, 0)), zero, is_async=True)
        mbarrier.wait(vf.index(vs), vp)
        acc = warpgroup_mma(A, Vs.index(vs), acc, is_async=True)
        if W == 0:
            assembly("bar.arrive 2, 256")
        else:
            assembly("bar.arrive 1, 256")
        S = warpgroup_mma_wait(1, deps=[S])
        mbarrier.arrive(ke.index(s), count=1)
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(ve.index(vs), count=1)
        p = p ^ (s == D - 1)
        s = (s + 1) % D
        vp = vp ^ (vs == D - 1)
        vs = (vs + 1) % D
    if W == 0:
        assembly("bar.sync 1, 256")
    P = gl.exp2(S)
    l += gl.sum(P, 1)
    A = gl.convert_layout(P.to(gl.float16), gl.DotOperandLayout(0, LO, 2))
    mbarrier.wait(vf.index(vs), vp)
    acc = warpgroup_mma(A, Vs.index(vs), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=[acc])
    mbarrier.arrive(ve.index(vs), count=1)
    acc = acc / gl.convert_layout(l, gl.SliceLayout(1, LO))[:, None]
    rows = m0 + 64 * W + gl.arange(0, 64, gl.SliceLayout(1, LO))
    cols = gl.arange(0, 64, gl.SliceLayout(0, LO))
    gl.store(o + rows[:, None] * 64 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def pingpong(q, k, v, o, S, D: gl.constexpr):
    N = gl.cdiv(S, 128)
    m0 = gl.program_id(0) * 128
    Qs = gl.allocate_shared_memory(gl.float16, [2, 64, 64], q.layout)
    Ks = gl.allocate_shared_memory(gl.float16, [D, 128, 64], k.layout)
    Vs = gl.allocate_shared_memory(gl.float16, [D, 128, 64], v.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    qf = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    kf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ke = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    vf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ve = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(2):
        mbarrier.init(qf.index(i), count=1)
    for i in gl.static_range(D):
        mbarrier.init(kf.index(i), count=1)
        mbarrier.init(ke.index(i), count=2)
        mbarrier.init(vf.index(i), count=1)
        mbarrier.init(ve.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (pp_wg, (o, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, 0, D)),
        (pp_wg, (o, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, 1, D)),
        (pp_load, (q, k, v, Qs, Ks, Vs, qf, kf, ke, vf, ve, m0, N, D)),
    ], [4, 1], [240, 24])


# Two producers, two consumers, store role, persistent, bias and relu
@gluon.jit
def sp_load(d, Xs, xf, xe, mt, tiles, N, A: gl.constexpr, D: gl.constexpr):
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            s = i % D
            mbarrier.wait(xe.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(xf.index(s), d.block_type.nbytes)
            if A:
                tma.async_copy_global_to_shared(d, [(tile % mt) * 128, n * 64], xf.index(s), Xs.index(s))
            else:
                tma.async_copy_global_to_shared(d, [n * 64, (tile // mt) * 128], xf.index(s), Xs.index(s))
            i += 1


@gluon.jit
def sp_wg(bias, As, Bs, Cs, af, ae, bf, be, cf, ce, mt, tiles, N, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    cp = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            s = i % D
            ph = (i // D) & 1
            mbarrier.wait(af.index(s), ph)
            mbarrier.wait(bf.index(s), ph)
            acc = warpgroup_mma(As.index(s).slice(64 * W, 64, dim=0), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(ae.index(s), count=1)
            mbarrier.arrive(be.index(s), count=1)
            i += 1
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        acc = gl.maximum(acc + gl.load(bias + cols)[None, :], 0.0)
        mbarrier.wait(ce, cp)
        Cs.slice(64 * W, 64, dim=0).store(acc.to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(cf, count=1)
        cp ^= 1


@gluon.jit
def sp_store(c, Cs, cf, ce, mt, tiles):
    p = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(cf, p)
        tma.async_copy_shared_to_global(c, [(tile % mt) * 128, (tile // mt) * 128], Cs)
        tma.store_wait(0)
        mbarrier.arrive(ce, count=1)
        p ^= 1


@gluon.jit
def split2(a, b, c, bias, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    Cs = gl.allocate_shared_memory(gl.float16, [128, 128], c.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    af = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ae = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    bf = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    be = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    cf = gl.allocate_shared_memory(gl.int64, [1], M)
    ce = gl.allocate_shared_memory(gl.int64, [1], M)
    for i in gl.static_range(D):
        mbarrier.init(af.index(i), count=1)
        mbarrier.init(ae.index(i), count=2)
        mbarrier.init(bf.index(i), count=1)
        mbarrier.init(be.index(i), count=2)
    mbarrier.init(cf, count=2)
    mbarrier.init(ce, count=1)
    fence_async_shared()
    gl.warp_specialize([
        (sp_wg, (bias, As, Bs, Cs, af, ae, bf, be, cf, ce, mt, tiles, N, 0, D)),
        (sp_wg, (bias, As, Bs, Cs, af, ae, bf, be, cf, ce, mt, tiles, N, 1, D)),
        (sp_load, (a, As, af, ae, mt, tiles, N, True, D)),
        (sp_load, (b, Bs, bf, be, mt, tiles, N, False, D)),
        (sp_store, (c, Cs, cf, ce, mt, tiles)),
    ], [4, 1, 1, 1], [232, 24, 24, 24])


# Ticketed: the loader draws, hands on to the consumers; three slots; id and flag
@gluon.jit
def tk_load(a, b, counter, As, Bs, full, empty, Ts, tf, te, mt, tiles, N, D: gl.constexpr):
    S: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    i = 0
    k = 0
    tile = gl.atomic_add(counter, 1)
    while tile < tiles:
        mbarrier.wait(te.index(k % 3), ((k // 3) & 1) ^ 1)
        Ts.index(k % 3).store(gl.full([1], 0, gl.int32, S) + tile)
        mbarrier.arrive(tf.index(k % 3), count=1)
        k += 1
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 128, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n * 64, (tile // mt) * 128], full.index(s), Bs.index(s))
            i += 1
        tile = gl.atomic_add(counter, 1)
    mbarrier.wait(te.index(k % 3), ((k // 3) & 1) ^ 1)
    Ts.index(k % 3).store(gl.full([1], -1, gl.int32, S))
    mbarrier.arrive(tf.index(k % 3), count=1)


@gluon.jit
def tk_wg(c, As, Bs, full, empty, Ts, tf, te, mt, N, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    S: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = 0
    k = 0
    going = True
    while going:
        mbarrier.wait(tf.index(k % 3), (k // 3) & 1)
        tile = gl.max(Ts.index(k % 3).load(S), 0)
        mbarrier.arrive(te.index(k % 3), count=1)
        k += 1
        going = tile >= 0
        if going:
            acc = gl.zeros([64, 128], gl.float32, L)
            for n in range(N):
                s = i % D
                mbarrier.wait(full.index(s), (i // D) & 1)
                acc = warpgroup_mma(As.index(s).slice(64 * W, 64, dim=0), Bs.index(s), acc, is_async=True)
                acc = warpgroup_mma_wait(0, deps=[acc])
                mbarrier.arrive(empty.index(s), count=1)
                i += 1
            rows = (tile % mt) * 128 + 64 * W + gl.arange(0, 64, gl.SliceLayout(1, L))
            cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
            gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def tickets(a, b, c, counter, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    Ts = gl.allocate_shared_memory(gl.int32, [3, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    tf = gl.allocate_shared_memory(gl.int64, [3, 1], M)
    te = gl.allocate_shared_memory(gl.int64, [3, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    for i in gl.static_range(3):
        mbarrier.init(tf.index(i), count=1)
        mbarrier.init(te.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (tk_wg, (c, As, Bs, full, empty, Ts, tf, te, mt, N, 0, D)),
        (tk_wg, (c, As, Bs, full, empty, Ts, tf, te, mt, N, 1, D)),
        (tk_load, (a, b, counter, As, Bs, full, empty, Ts, tf, te, mt, tiles, N, D)),
    ], [4, 1], [240, 24])

# cp.async producer of B (4 warps), A by TMA on the same barrier
@gluon.jit
def cp_load(a, b, As, Bs, full, empty, m0, n0, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [4, 1], [1, 0])
    rows = gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 128, gl.SliceLayout(0, L))
    p = b + rows[:, None] * 4096 + (n0 + cols)[None, :]
    s = 0
    ph = 1
    for n in range(N):
        mbarrier.wait(empty.index(s), ph)
        mbarrier.expect(full.index(s), a.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 64], full.index(s), As.index(s))
        async_copy.async_copy_global_to_shared(Bs.index(s), p)
        async_copy.mbarrier_arrive(full.index(s), increment_count=False)
        p += 64 * 4096
        s += 1
        if s == D:
            s = 0
            ph ^= 1


@gluon.jit
def cp_wg(c, As, Bs, full, empty, m0, n0, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    s = 0
    ph = 0
    last = 0
    for n in range(N):
        mbarrier.wait(full.index(s), ph)
        fence_async_shared()
        acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        mbarrier.arrive(empty.index(last), count=1, pred=n > 0)
        last = s
        s += 1
        if s == D:
            s = 0
            ph ^= 1
    acc = warpgroup_mma_wait(0, deps=[acc])
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def cpasync(a, b, c, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    m0 = gl.program_id(0) * 64
    n0 = gl.program_id(1) * 128
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    W: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.float16)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], W)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=129)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (cp_wg, (c, As, Bs, full, empty, m0, n0, N, D)),
        (cp_load, (a, b, As, Bs, full, empty, m0, n0, N, D)),
    ], [4], [80])


# Blackwell, persistent, tensor memory twice, two products, fused SiLU, two subtiles out
@gluon.jit
def td_load(a, b, As, Bs, Gs, full, empty, mt, tiles, N, D: gl.constexpr):
    s = 0
    p = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            mbarrier.wait(empty.index(s), p)
            mbarrier.expect(full.index(s), a.block_type.nbytes + 2 * b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 128, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [(tile // mt) * 64, n * 64], full.index(s), Bs.index(s))
            tma.async_copy_global_to_shared(b, [(tile // mt) * 64 + 4096, n * 64], full.index(s), Gs.index(s))
            s += 1
            if s == D:
                s = 0
                p ^= 1


@gluon.jit
def td_mma(As, Bs, Gs, full, empty, up, gate, ready, free, tiles, N, D: gl.constexpr):
    s = 0
    p = 0
    t = 0
    tp = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(free.index(t), tp)
        use = False
        for n in range(N):
            mbarrier.wait(full.index(s), p)
            bw.tcgen05_mma(As.index(s), Bs.index(s).permute((1, 0)), up.index(t), use_acc=use)
            bw.tcgen05_mma(As.index(s), Gs.index(s).permute((1, 0)), gate.index(t), use_acc=use, mbarriers=[empty.index(s)])
            use = True
            s += 1
            if s == D:
                s = 0
                p ^= 1
        bw.tcgen05_commit(ready.index(t))
        t ^= 1
        if t == 0:
            tp ^= 1


@gluon.jit
def td_epi(c, Cs, up, gate, ready, free, mt, tiles):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 64], up.index(0).layout, 4)
    t = 0
    tp = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(ready.index(t), tp)
        u = up.index(t).load(R)
        g = gate.index(t).load(R)
        mbarrier.arrive(free.index(t), count=1)
        y = u * g / (1.0 + gl.exp2(g * -1.44))
        tma.store_wait(0)
        Cs.store(y.to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [(tile % mt) * 128, (tile // mt) * 64], Cs)
        t ^= 1
        if t == 0:
            tp ^= 1
    tma.store_wait(0)


@gluon.jit
def silu(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], b.layout)
    Gs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], b.layout)
    Cs = gl.allocate_shared_memory(gl.float16, [128, 64], c.layout)
    up = bw.allocate_tensor_memory(gl.float32, [2, 128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1))
    gate = bw.allocate_tensor_memory(gl.float32, [2, 128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1))
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    ready = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    free = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (td_epi, (c, Cs, up, gate, ready, free, mt, tiles)),
        (td_mma, (As, Bs, Gs, full, empty, up, gate, ready, free, tiles, N, D)),
        (td_load, (a, b, As, Bs, Gs, full, empty, mt, tiles, N, D)),
    ], [1, 1], [48, 48])


# Named barriers as full/empty pairs: loads through registers
@gluon.jit
def nm_fill(x, Xs, N):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    p = x + rows[:, None] * 4096 + cols[None, :]
    for n in range(N):
        v = gl.load(p + n * 64)
        if n % 2 == 0:
            assembly("bar.sync 3, 256")
            Xs.index(0).store(v)
            assembly("bar.arrive 1, 256")
        else:
            assembly("bar.sync 4, 256")
            Xs.index(1).store(v)
            assembly("bar.arrive 2, 256")


@gluon.jit
def nm_work(y, Xs, N):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    acc = gl.zeros([64, 64], gl.float32, L)
    assembly("bar.arrive 3, 256")
    assembly("bar.arrive 4, 256")
    for n in range(N):
        if n % 2 == 0:
            assembly("bar.sync 1, 256")
            acc += Xs.index(0).load(L).to(gl.float32)
            assembly("bar.arrive 3, 256")
        else:
            assembly("bar.sync 2, 256")
            acc += Xs.index(1).load(L).to(gl.float32)
            assembly("bar.arrive 4, 256")
    rows = gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    gl.store(y + rows[:, None] * 64 + cols[None, :], acc)


@gluon.jit
def named(x, y, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    S: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    Xs = gl.allocate_shared_memory(gl.float16, [2, 64, 64], S)
    gl.warp_specialize([
        (nm_work, (y, Xs, N)),
        (nm_fill, (x, Xs, N)),
    ], [4], [64])


# Stream-K: each CTA has a range of iterations of all tiles
@gluon.jit
def st_load(a, b, As, Bs, full, empty, mt, per, N, total, D: gl.constexpr):
    it = gl.program_id(0) * per
    end = gl.minimum(it + per, total)
    i = 0
    while it < end:
        tile = it // N
        k0 = it % N
        k1 = gl.minimum(N, k0 + end - it)
        for k in range(k0, k1):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 64, k * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [k * 64, (tile // mt) * 128], full.index(s), Bs.index(s))
            i += 1
        it += k1 - k0


@gluon.jit
def st_wg(c, As, Bs, full, empty, mt, per, N, total, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    it = gl.program_id(0) * per
    end = gl.minimum(it + per, total)
    i = 0
    while it < end:
        tile = it // N
        k0 = it % N
        k1 = gl.minimum(N, k0 + end - it)
        acc = gl.zeros([64, 128], gl.float32, L)
        for k in range(k0, k1):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.atomic_add(c + rows[:, None] * 4096 + cols[None, :], acc)
        it += k1 - k0


@gluon.jit
def streamk(a, b, c, mt, per, K, total, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (st_wg, (c, As, Bs, full, empty, mt, per, N, total, D)),
        (st_load, (a, b, As, Bs, full, empty, mt, per, N, total, D)),
    ], [1], [24])


# CUTLASS-like ping-pong: consumers take tiles in turns; ring of one loader; order of products by mbarriers
@gluon.jit
def pg_load(a, b, As, Bs, full, empty, mt, tiles, N, D: gl.constexpr):
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 64, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n * 64, (tile // mt) * 128], full.index(s), Bs.index(s))
            i += 1


@gluon.jit
def pg_wg(c, As, Bs, full, empty, turn, mt, tiles, N, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = W * N
    k = 0
    for tile in range(gl.program_id(0) + W * gl.num_programs(0), tiles, 2 * gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        mbarrier.wait(turn.index(W), (k & 1) ^ (1 - W))
        for n in range(N):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
        mbarrier.arrive(turn.index(1 - W), count=1)
        i += N
        k += 1
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def ppgemm(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    turn = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(turn.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (pg_wg, (c, As, Bs, full, empty, turn, mt, tiles, N, 0, D)),
        (pg_wg, (c, As, Bs, full, empty, turn, mt, tiles, N, 1, D)),
        (pg_load, (a, b, As, Bs, full, empty, mt, tiles, N, D)),
    ], [4, 1], [240, 24])

# fp8 with block scales, promoted each block; scales by a loader of their own through registers
@gluon.jit
def bs_load(a, b, As, Bs, full, empty, m0, n0, N, D: gl.constexpr):
    s = 0
    p = 1
    for n in range(N):
        mbarrier.wait(empty.index(s), p)
        mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 128], full.index(s), As.index(s))
        tma.async_copy_global_to_shared(b, [n0, n * 128], full.index(s), Bs.index(s))
        s = (s + 1) % D
        p = p ^ (s == 0)


@gluon.jit
def bs_scale(sa, Ss, sf, se, m0, N):
    L: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    rows = m0 + gl.arange(0, 64, L)
    for n in range(N):
        t = n & 1
        v = gl.load(sa + n * 4096 + rows)
        mbarrier.wait(se.index(t), ((n >> 1) & 1) ^ 1)
        Ss.index(t).store(v)
        mbarrier.arrive(sf.index(t), count=1)


@gluon.jit
def bs_wg(c, sb, As, Bs, Ss, full, empty, sf, se, m0, n0, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 32])
    acc = gl.zeros([64, 128], gl.float32, L)
    zero = gl.zeros([64, 128], gl.float32, L)
    s = 0
    p = 0
    for n in range(N):
        t = n & 1
        w = gl.load(sb + n)
        mbarrier.wait(full.index(s), p)
        part = warpgroup_mma(As.index(s), Bs.index(s).permute((1, 0)), zero, is_async=True)
        mbarrier.wait(sf.index(t), (n >> 1) & 1)
        r = Ss.index(t).load(gl.SliceLayout(1, L))
        mbarrier.arrive(se.index(t), count=1)
        part = warpgroup_mma_wait(0, deps=[part])
        mbarrier.arrive(empty.index(s), count=1)
        acc += part * (r * w)[:, None]
        s = (s + 1) % D
        p = p ^ (s == 0)
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.bfloat16))


@gluon.jit
def blockscale(a, b, sa, sb, c, K, D: gl.constexpr):
    N = K // 128
    m0 = gl.program_id(0) * 64
    n0 = gl.program_id(1) * 128
    As = gl.allocate_shared_memory(gl.float8e4nv, [D, 64, 128], a.layout)
    Bs = gl.allocate_shared_memory(gl.float8e4nv, [D, 128, 128], b.layout)
    Ss = gl.allocate_shared_memory(gl.float32, [2, 64], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    sf = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    se = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(sf.index(i), count=1)
        mbarrier.init(se.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (bs_wg, (c, sb, As, Bs, Ss, full, empty, sf, se, m0, n0, N, D)),
        (bs_load, (a, b, As, Bs, full, empty, m0, n0, N, D)),
        (bs_scale, (sa, Ss, sf, se, m0, N)),
    ], [1, 1], [24, 40])

# dQ-like: the consumer leaves sums in a box, a role adds it to global memory by TMA
@gluon.jit
def rd_load(a, b, As, Bs, af, full, empty, m0, N, D: gl.constexpr):
    mbarrier.expect(af, a.block_type.nbytes)
    tma.async_copy_global_to_shared(a, [m0, 0], af, As)
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(full.index(s), b.block_type.nbytes)
        tma.async_copy_global_to_shared(b, [n * 64, 0], full.index(s), Bs.index(s))


@gluon.jit
def rd_wg(As, Bs, Os, af, full, empty, of, oe, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    zero = gl.zeros([64, 128], gl.float32, L)
    mbarrier.wait(af, 0)
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        x = warpgroup_mma(As, Bs.index(s), zero, is_async=True)
        x = warpgroup_mma_wait(0, deps=[x])
        mbarrier.arrive(empty.index(s), count=1)
        mbarrier.wait(oe.index(n % 2), ((n // 2) & 1) ^ 1)
        Os.index(n % 2).store(x)
        fence_async_shared()
        mbarrier.arrive(of.index(n % 2), count=1)


@gluon.jit
def rd_add(o, Os, of, oe, N):
    for n in range(N):
        mbarrier.wait(of.index(n % 2), (n // 2) & 1)
        tma.async_copy_shared_to_global(o, [n * 64, 0], Os.index(n % 2))
        tma.store_wait(1)
        if n >= 1:
            mbarrier.arrive(oe.index((n - 1) % 2), count=1)
    tma.store_wait(0)


@gluon.jit
def reduced(a, b, o, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    m0 = gl.program_id(0) * 64
    As = gl.allocate_shared_memory(gl.float16, [64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    Os = gl.allocate_shared_memory(gl.float32, [2, 64, 128], o.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    af = gl.allocate_shared_memory(gl.int64, [1], M)
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    of = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    oe = gl.allocate_shared_memory(gl.int64, [2, 1], M)
    mbarrier.init(af, count=1)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(of.index(i), count=1)
        mbarrier.init(oe.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (rd_wg, (As, Bs, Os, af, full, empty, of, oe, N, D)),
        (rd_load, (a, b, As, Bs, af, full, empty, m0, N, D)),
        (rd_add, (o, Os, of, oe, N)),
    ], [1, 1], [24, 24])


# Paged decode: pages from a table, lengths loaded, heads in a loop
@gluon.jit
def pd_load(k, v, table, lens, Ks, Vs, full, empty, D: gl.constexpr):
    b = gl.program_id(0)
    n_blocks = gl.cdiv(gl.load(lens + b), 64)
    lo = gl.program_id(1) * 8
    hi = gl.minimum(lo + 8, n_blocks)
    s = 0
    p = 1
    for n in range(lo, hi):
        page = gl.load(table + b * 256 + n)
        mbarrier.wait(empty.index(s), p)
        mbarrier.expect(full.index(s), 2 * k.block_type.nbytes)
        tma.async_copy_global_to_shared(k, [page * 64, 0], full.index(s), Ks.index(s))
        tma.async_copy_global_to_shared(v, [page * 64, 0], full.index(s), Vs.index(s))
        s += 1
        if s == D:
            s = 0
            p ^= 1


@gluon.jit
def pd_wg(q, o, lens, Qs, Ks, Vs, full, empty, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    I: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    b = gl.program_id(0)
    n_blocks = gl.cdiv(gl.load(lens + b), 64)
    lo = gl.program_id(1) * 8
    hi = gl.minimum(lo + 8, n_blocks)
    r = gl.arange(0, 64, gl.SliceLayout(1, I))
    d = gl.arange(0, 64, gl.SliceLayout(0, I))
    Qs.store(gl.load(q + (b * 64 + r)[:, None] * 64 + d[None, :]))
    fence_async_shared()
    acc = gl.zeros([64, 64], gl.float32, L)
    zero = gl.zeros([64, 64], gl.float32, L)
    s = 0
    p = 0
    for n in range(lo, hi):
        mbarrier.wait(full.index(s), p)
        x = warpgroup_mma(Qs, Ks.index(s).permute((1, 0)), zero, is_async=True)
        x = warpgroup_mma_wait(0, deps=[x])
        A = gl.convert_layout(gl.exp2(x).to(gl.float16), gl.DotOperandLayout(0, L, 2))
        acc = warpgroup_mma(A, Vs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(empty.index(s), count=1)
        s += 1
        if s == D:
            s = 0
            p ^= 1
    rows = b * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    gl.store(o + rows[:, None] * 64 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def paged(q, k, v, o, table, lens, D: gl.constexpr):
    Qs = gl.allocate_shared_memory(gl.float16, [64, 64], k.layout)
    Ks = gl.allocate_shared_memory(gl.float16, [D, 64, 64], k.layout)
    Vs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], v.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (pd_wg, (q, o, lens, Qs, Ks, Vs, full, empty, D)),
        (pd_load, (k, v, table, lens, Ks, Vs, full, empty, D)),
    ], [1], [32])


# Two passes over the same ring (mean, then normalized), stores in the loop
@gluon.jit
def tw_load(x, Xs, full, empty, r0, N, D: gl.constexpr):
    i = 0
    for again in range(2):
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), x.block_type.nbytes)
            tma.async_copy_global_to_shared(x, [r0, n * 64], full.index(s), Xs.index(s))
            i += 1


@gluon.jit
def tw_work(y, Xs, Ys, full, empty, r0, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    total = gl.zeros([64], gl.float32, gl.SliceLayout(1, L))
    i = 0
    for n in range(N):
        s = i % D
        mbarrier.wait(full.index(s), (i // D) & 1)
        v = Xs.index(s).load(L).to(gl.float32)
        mbarrier.arrive(empty.index(s), count=1)
        total += gl.sum(v * v, 1)
        i += 1
    scale = 1.0 / gl.sqrt(total)
    for n in range(N):
        s = i % D
        mbarrier.wait(full.index(s), (i // D) & 1)
        v = Xs.index(s).load(L).to(gl.float32)
        mbarrier.arrive(empty.index(s), count=1)
        tma.store_wait(1)
        Ys.index(n % 2).store((v * scale[:, None]).to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(y, [r0, n * 64], Ys.index(n % 2))
        i += 1
    tma.store_wait(0)


@gluon.jit
def twice(x, y, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    r0 = gl.program_id(0) * 64
    Xs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], x.layout)
    Ys = gl.allocate_shared_memory(gl.float16, [2, 64, 64], y.layout)
    M: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], M)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (tw_work, (y, Xs, Ys, full, empty, r0, N, D)),
        (tw_load, (x, Xs, full, empty, r0, N, D)),
    ], [1], [24])


def main():
    folder = pathlib.Path(sys.argv[1])
    half, wide, tile, out = desc([64, 64]), desc([64, 128]), desc([128, 64]), desc([128, 128])
    sums, bytes_a, bytes_b = desc([64, 128], "fp32", gl.float32), desc([64, 128], "fp8e4nv", gl.float8e4nv), desc([128, 128], "fp8e4nv", gl.float8e4nv)
    tiles = {"mt": "i32", "tiles": "i32", "K": "i32"}
    kernels = [
        (pingpong, {"q": half, "k": tile, "v": tile, "o": "*fp16", "S": "i32"}, 2, 90),
        (split2, {"a": tile, "b": wide, "c": out, "bias": "*fp32", **tiles}, 4, 90),
        (tickets, {"a": tile, "b": wide, "c": "*fp16", "counter": "*i32", **tiles}, 4, 90),
        (cpasync, {"a": half, "b": "*fp16", "c": "*fp16", "K": "i32"}, 4, 90),
        (silu, {"a": tile, "b": half, "c": tile, **tiles}, 4, 100),
        (named, {"x": "*fp16", "y": "*fp32", "K": "i32"}, 2, 90),
        (streamk, {"a": half, "b": wide, "c": "*fp32", "mt": "i32", "per": "i32", "K": "i32", "total": "i32"}, 3, 90),
        (ppgemm, {"a": half, "b": wide, "c": "*fp16", **tiles}, 4, 90),
        (blockscale, {"a": bytes_a, "b": bytes_b, "sa": "*fp32", "sb": "*fp32", "c": "*bf16", "K": "i32"}, 3, 90),
        (reduced, {"a": half, "b": wide, "o": sums, "K": "i32"}, 3, 90),
        (paged, {"q": "*fp16", "k": half, "v": half, "o": "*fp16", "table": "*i32", "lens": "*i32"}, 3, 90),
        (twice, {"x": half, "y": half, "K": "i32"}, 3, 90),
    ]
    for kernel, signature, depth, arch in kernels:
        make(kernel, signature, depth, arch, folder)


if __name__ == "__main__":
    main()
