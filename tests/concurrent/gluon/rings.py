"""More Gluon kernels whose TTGIR stands beside this file, made as kernels.py says: rows that are gathered, block scales, rings as values, attention
with a role for each half of a tile. Usage, with Triton 3.6: rings.py FOLDER
"""
import pathlib
import sys

import triton
from kernels import desc, make
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell as bw
from triton.experimental.gluon.language.nvidia.blackwell import tma as btma
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.language.core import _aggregate as aggregate


# Rows are gathered, doubled and scattered
@gluon.jit
def ga_load(x, idx, Xs, full, empty, N, D: gl.constexpr):
    L: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 1], [1, 0]))
    rows = gl.load(idx + gl.program_id(0) * 32 + gl.arange(0, 32, L))
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(full.index(s), 32 * 64 * 2)
        btma.async_gather(x, rows, n * 64, full.index(s), Xs.index(s))


@gluon.jit
def ga_work(Xs, Ys, full, empty, yfull, yempty, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    for n in range(N):
        s = n % D
        t = n % 2
        mbarrier.wait(full.index(s), (n // D) & 1)
        v = Xs.index(s).load(L)
        fence_async_shared()
        mbarrier.arrive(empty.index(s), count=1)
        mbarrier.wait(yempty.index(t), ((n // 2) & 1) ^ 1)
        Ys.index(t).store((v.to(gl.float32) * 2.0).to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(yfull.index(t), count=1)


@gluon.jit
def ga_store(y, idx, Ys, yfull, yempty, N):
    L: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 1], [1, 0]))
    rows = gl.load(idx + gl.program_id(0) * 32 + gl.arange(0, 32, L))
    for n in range(N):
        t = n % 2
        mbarrier.wait(yfull.index(t), (n // 2) & 1)
        btma.async_scatter(y, rows, n * 64, Ys.index(t))
        tma.store_wait(0)
        mbarrier.arrive(yempty.index(t), count=1)


@gluon.jit
def gather(x, y, idx, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    Xs = gl.allocate_shared_memory(gl.float16, [D, 32, 64], x.layout)
    Ys = gl.allocate_shared_memory(gl.float16, [2, 32, 64], y.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    yfull = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    yempty = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(yfull.index(i), count=1)
        mbarrier.init(yempty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (ga_work, (Xs, Ys, full, empty, yfull, yempty, N, D)),
        (ga_load, (x, idx, Xs, full, empty, N, D)),
        (ga_store, (y, idx, Ys, yfull, yempty, N)),
    ], [1, 1], [48, 48])


# A product with block scales, which TMA loads and tcgen05.cp takes to tensor memory
@gluon.jit
def sc_load(a, b, sa, sb, As, Bs, SAs, SBs, full, empty, m0, n0, N, D: gl.constexpr):
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes + sa.block_type.nbytes + sb.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 128], full.index(s), As.index(s))
        tma.async_copy_global_to_shared(b, [n0, n * 128], full.index(s), Bs.index(s))
        tma.async_copy_global_to_shared(sa, [0, m0 // 128, n, 0, 0], full.index(s), SAs.index(s))
        tma.async_copy_global_to_shared(sb, [0, n0 // 128, n, 0, 0], full.index(s), SBs.index(s))


@gluon.jit
def unswizzle(S):
    return S.reshape((1, 1, 32, 4, 4)).permute((0, 3, 2, 1, 4)).reshape((128, 4))


@gluon.jit
def sc_mma(As, Bs, SAs, SBs, ta, tb, acc, full, empty, done, N, D: gl.constexpr):
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        bw.tcgen05_copy(unswizzle(SAs.index(s)), ta)
        bw.tcgen05_copy(unswizzle(SBs.index(s)), tb)
        bw.tcgen05_mma_scaled(As.index(s), Bs.index(s).permute((1, 0)), acc, ta, tb, "e4m3", "e4m3", use_acc=n > 0)
        bw.tcgen05_commit(empty.index(s))
    bw.tcgen05_commit(done)


@gluon.jit
def sc_epi(c, acc, done, m0, n0):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 128], acc.layout, 4)
    mbarrier.wait(done, 0)
    x = acc.load(R)
    rows = m0 + gl.arange(0, 128, gl.SliceLayout(1, R))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, R))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], x.to(gl.float16))


@gluon.jit
def scaled(a, b, sa, sb, c, K, D: gl.constexpr):
    N = gl.cdiv(K, 128)
    m0 = gl.program_id(0) * 128
    n0 = gl.program_id(1) * 128
    As = gl.allocate_shared_memory(gl.float8e4nv, [D, 128, 128], a.layout)
    Bs = gl.allocate_shared_memory(gl.float8e4nv, [D, 128, 128], b.layout)
    SAs = gl.allocate_shared_memory(gl.uint8, [D, 1, 1, 1, 2, 256], sa.layout)
    SBs = gl.allocate_shared_memory(gl.uint8, [D, 1, 1, 1, 2, 256], sb.layout)
    acc = bw.allocate_tensor_memory(gl.float32, [128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    ta = bw.allocate_tensor_memory(gl.uint8, [128, 4], bw.TensorMemoryScalesLayout())
    tb = bw.allocate_tensor_memory(gl.uint8, [128, 4], bw.TensorMemoryScalesLayout())
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    done = gl.allocate_shared_memory(gl.int64, [1], B)
    mbarrier.init(done, count=1)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (sc_epi, (c, acc, done, m0, n0)),
        (sc_mma, (As, Bs, SAs, SBs, ta, tb, acc, full, empty, done, N, D)),
        (sc_load, (a, b, sa, sb, As, Bs, SAs, SBs, full, empty, m0, n0, N, D)),
    ], [1, 1], [48, 48])


# A ring is one value
@aggregate
class Ring:
    mem: gl.shared_memory_descriptor
    full: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    depth: gl.constexpr
    @triton.constexpr_function
    def __init__(self, mem, full, empty, depth):
        self.mem = mem
        self.full = full
        self.empty = empty
        self.depth = gl.constexpr(depth)


@gluon.jit
def ring(dtype: gl.constexpr, shape: gl.constexpr, desc, depth: gl.constexpr, readers: gl.constexpr):
    layout: gl.constexpr = desc.layout
    mem = gl.allocate_shared_memory(dtype, shape, layout)
    full = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(depth):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=readers)
    return Ring(mem, full, empty, depth)


@gluon.jit
def fetch(r, desc, row, col, i):
    s = i % r.depth
    mbarrier.wait(r.empty.index(s), ((i // r.depth) & 1) ^ 1)
    mbarrier.expect(r.full.index(s), desc.block_type.nbytes)
    tma.async_copy_global_to_shared(desc, [row, col], r.full.index(s), r.mem.index(s))


@gluon.jit
def await_full(r, i):
    s = i % r.depth
    mbarrier.wait(r.full.index(s), (i // r.depth) & 1)
    return r.mem.index(s)


# Dequantization: bytes are loaded, a role widens them into another ring, a third multiplies (Hopper)
@gluon.jit
def dq_load(a, w, ra, rw, m0, n0, N):
    for n in range(N):
        fetch(ra, a, m0, n * 64, n)
        fetch(rw, w, n * 64, n0, n)


@gluon.jit
def dq_widen(rw, rb, scale, N):
    L: gl.constexpr = gl.BlockedLayout([1, 16], [4, 8], [4, 1], [1, 0])
    for n in range(N):
        src = await_full(rw, n)
        w = src.load(L).to(gl.float16) * scale
        mbarrier.arrive(rw.empty.index(n % rw.depth), count=1)
        t = n % rb.depth
        mbarrier.wait(rb.empty.index(t), ((n // rb.depth) & 1) ^ 1)
        rb.mem.index(t).store(w.to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(rb.full.index(t), count=1)


@gluon.jit
def dq_mma(c, ra, rb, m0, n0, N):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    for n in range(N):
        A = await_full(ra, n)
        Bm = await_full(rb, n)
        acc = warpgroup_mma(A, Bm, acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        if n > 0:
            mbarrier.arrive(ra.empty.index((n - 1) % ra.depth), count=1)
            mbarrier.arrive(rb.empty.index((n - 1) % rb.depth), count=1)
    acc = warpgroup_mma_wait(0, deps=[acc])
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def dequant(a, w, w16, c, scale, K, D: gl.constexpr):
    m0 = gl.program_id(0) * 64
    n0 = gl.program_id(1) * 128
    N = gl.cdiv(K, 64)
    ra = ring(gl.float16, [D, 64, 64], a, D, 1)
    rw = ring(gl.int8, [D, 64, 128], w, D, 1)
    rb = ring(gl.float16, [2, 64, 128], w16, 2, 1)
    fence_async_shared()
    gl.warp_specialize([
        (dq_mma, (c, ra, rb, m0, n0, N)),
        (dq_widen, (rw, rb, scale, N)),
        (dq_load, (a, w, ra, rw, m0, n0, N)),
    ], [4, 1], [120, 24])


# Split K: the sum goes out by a reducing bulk store of a role of its own (Blackwell, persistent)
@gluon.jit
def sk_load(a, b, ra, rb, mt, tiles, N):
    i = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            fetch(ra, a, (t % mt) * 128, n * 64, i)
            fetch(rb, b, (t // mt) * 128, n * 64, i)
            i += 1


@gluon.jit
def sk_mma(ra, rb, acc, ready, free, tiles, N):
    i = 0
    k = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(free.index(k & 1), ((k >> 1) & 1) ^ 1)
        use = False
        for n in range(N):
            A = await_full(ra, i)
            Bm = await_full(rb, i)
            bw.tcgen05_mma(A, Bm.permute((1, 0)), acc.index(k & 1), use_acc=use)
            bw.tcgen05_commit(ra.empty.index(i % ra.depth))
            bw.tcgen05_commit(rb.empty.index(i % rb.depth))
            use = True
            i += 1
        bw.tcgen05_commit(ready.index(k & 1))
        k += 1


@gluon.jit
def sk_out(c, Cs, acc, ready, free, mt, tiles):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1), 4)
    k = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(ready.index(k & 1), (k >> 1) & 1)
        for h in gl.static_range(2):
            x = acc.index(k & 1).slice(h * 64, 64).load(R)
            tma.store_wait(1)
            Cs.index(h).store(x)
            fence_async_shared()
            tma.async_copy_shared_to_global(c, [(t % mt) * 128, (t // mt) * 128 + h * 64], Cs.index(h))
        mbarrier.arrive(free.index(k & 1), count=1)
        k += 1
    tma.store_wait(0)


@gluon.jit
def splitk(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    ra = ring(gl.float16, [D, 128, 64], a, D, 1)
    rb = ring(gl.float16, [D, 128, 64], b, D, 1)
    Cs = gl.allocate_shared_memory(gl.float32, [2, 128, 64], c.layout)
    acc = bw.allocate_tensor_memory(gl.float32, [2, 128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    ready = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (sk_out, (c, Cs, acc, ready, free, mt, tiles)),
        (sk_mma, (ra, rb, acc, ready, free, tiles, N)),
        (sk_load, (a, b, ra, rb, mt, tiles, N)),
    ], [1, 1], [48, 48])


# One role draws tiles from a counter and hands their numbers on through shared memory
@gluon.jit
def dy_draw(counter, Ts, tfull, tempty, tiles):
    L: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    i = 0
    tile = gl.program_id(0)
    going = tile < tiles
    while going:
        mbarrier.wait(tempty.index(i % 2), ((i // 2) & 1) ^ 1)
        Ts.index(i % 2).store(gl.full([1], 0, gl.int32, L) + tile)
        mbarrier.arrive(tfull.index(i % 2), count=1)
        going = tile < tiles
        tile = gl.atomic_add(counter, 1)
        i += 1


@gluon.jit
def take(Ts, tfull, tempty, i, W: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1], [32], [W], [0])
    mbarrier.wait(tfull.index(i % 2), (i // 2) & 1)
    tile = gl.max(Ts.index(i % 2).load(L), 0)
    mbarrier.arrive(tempty.index(i % 2), count=1)
    return tile


@gluon.jit
def dy_load(a, b, ra, rb, Ts, tfull, tempty, mt, tiles, N):
    i = 0
    k = 0
    tile = take(Ts, tfull, tempty, k, 1)
    while tile < tiles:
        for n in range(N):
            fetch(ra, a, (tile % mt) * 64, n * 64, i)
            fetch(rb, b, n * 64, (tile // mt) * 128, i)
            i += 1
        k += 1
        tile = take(Ts, tfull, tempty, k, 1)


@gluon.jit
def dy_work(c, ra, rb, Ts, tfull, tempty, mt, tiles, N):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    k = 0
    tile = take(Ts, tfull, tempty, k, 4)
    while tile < tiles:
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            A = await_full(ra, i)
            Bm = await_full(rb, i)
            acc = warpgroup_mma(A, Bm, acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(ra.empty.index(i % ra.depth), count=1)
            mbarrier.arrive(rb.empty.index(i % rb.depth), count=1)
            i += 1
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))
        k += 1
        tile = take(Ts, tfull, tempty, k, 4)


@gluon.jit
def dynamic(a, b, c, counter, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    ra = ring(gl.float16, [D, 64, 64], a, D, 1)
    rb = ring(gl.float16, [D, 64, 128], b, D, 1)
    S: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    Ts = gl.allocate_shared_memory(gl.int32, [2, 1], S)
    tfull = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    tempty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(tfull.index(i), count=1)
        mbarrier.init(tempty.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (dy_work, (c, ra, rb, Ts, tfull, tempty, mt, tiles, N)),
        (dy_load, (a, b, ra, rb, Ts, tfull, tempty, mt, tiles, N)),
        (dy_draw, (counter, Ts, tfull, tempty, tiles)),
    ], [1, 1], [48, 48])


# Persistent with while loops, whose bounds are computed at their heads; the other role has counting loops
@gluon.jit
def wh_load(a, b, ra, rb, mt, tiles, K):
    i = 0
    tile = gl.program_id(0)
    while tile < tiles:
        n = 0
        while n < gl.cdiv(K, 64):
            fetch(ra, a, (tile % mt) * 64, n * 64, i)
            fetch(rb, b, n * 64, (tile // mt) * 128, i)
            i += 1
            n += 1
        tile += gl.num_programs(0)


@gluon.jit
def wh_work(c, ra, rb, mt, tiles, K):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        n = 0
        while gl.cdiv(K, 64) > n:
            A = await_full(ra, i)
            Bm = await_full(rb, i)
            acc = warpgroup_mma(A, Bm, acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(ra.empty.index(i % ra.depth), count=1)
            mbarrier.arrive(rb.empty.index(i % rb.depth), count=1)
            i += 1
            n += 1
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def whiles(a, b, c, mt, tiles, K, D: gl.constexpr):
    ra = ring(gl.float16, [D, 64, 64], a, D, 1)
    rb = ring(gl.float16, [D, 64, 128], b, D, 1)
    fence_async_shared()
    gl.warp_specialize([
        (wh_work, (c, ra, rb, mt, tiles, K)),
        (wh_load, (a, b, ra, rb, mt, tiles, K)),
    ], [1], [48])


# Attention for Blackwell: two tiles of queries, two softmax roles, one that corrects, one that multiplies
@gluon.jit
def at_load(q, k, v, qs, q_full, rk, rv, m0, h, N):
    for t in gl.static_range(2):
        mbarrier.expect(q_full.index(t), q.block_type.nbytes)
        tma.async_copy_global_to_shared(q, [m0 + 128 * t, h * 64], q_full.index(t), qs.index(t))
    for n in range(N):
        fetch(rk, k, n * 128, h * 64, n)
        fetch(rv, v, n * 128, h * 64, n)


@gluon.jit
def at_mma(qs, q_full, rk, rv, s, p, o, s_full, p_full, o_full, o_free, N):
    mbarrier.wait(q_full.index(0), 0)
    mbarrier.wait(q_full.index(1), 0)
    for n in range(N):
        K = await_full(rk, n)
        for t in gl.static_range(2):
            bw.tcgen05_mma(qs.index(t), K.permute((1, 0)), s.index(t), use_acc=False, mbarriers=[s_full.index(t)])
        bw.tcgen05_commit(rk.empty.index(n % rk.depth))
        V = await_full(rv, n)
        for t in gl.static_range(2):
            mbarrier.wait(p_full.index(t), n & 1)
            mbarrier.wait(o_free.index(t), n & 1)
            bw.tcgen05_mma(p.index(t), V, o.index(t), use_acc=n > 0, mbarriers=[o_full.index(t)])
        bw.tcgen05_commit(rv.empty.index(n % rv.depth))


@gluon.jit
def at_softmax(s, p, al, s_full, p_full, al_full, al_free, scale, N, T: gl.constexpr):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1), 4)
    row: gl.constexpr = gl.SliceLayout(1, R)
    A1: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    m = gl.full([128], float("-inf"), gl.float32, row)
    l = gl.full([128], 0.0, gl.float32, row)
    for n in range(N):
        mbarrier.wait(s_full.index(T), n & 1)
        x = s.index(T).load(R)
        m_new = gl.maximum(m, gl.max(x, 1) * scale)
        alpha = gl.exp2(m - m_new)
        mbarrier.wait(al_free.index(T), (n & 1) ^ 1)
        al.index(T).store(gl.convert_layout(alpha, A1))
        mbarrier.arrive(al_full.index(T), count=1)
        e = gl.exp2(x * scale - m_new[:, None])
        p.index(T).store(e.to(gl.float16))
        mbarrier.arrive(p_full.index(T), count=1)
        l = l * alpha + gl.sum(e, 1)
        m = m_new
    mbarrier.wait(al_free.index(T), (N & 1) ^ 1)
    al.index(T).store(gl.convert_layout(l, A1))
    mbarrier.arrive(al_full.index(T), count=1)


@gluon.jit
def at_correct(out, o, al, al_full, al_free, o_full, o_free, m0, h, N):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1), 4)
    row: gl.constexpr = gl.SliceLayout(1, R)
    for n in range(N):
        for t in gl.static_range(2):
            mbarrier.wait(al_full.index(t), n & 1)
            a = al.index(t).load(row)
            mbarrier.arrive(al_free.index(t), count=1)
            if n > 0:
                mbarrier.wait(o_full.index(t), (n - 1) & 1)
                o.index(t).store(o.index(t).load(R) * a[:, None])
            mbarrier.arrive(o_free.index(t), count=1)
    for t in gl.static_range(2):
        mbarrier.wait(al_full.index(t), N & 1)
        a = al.index(t).load(row)
        mbarrier.arrive(al_free.index(t), count=1)
        mbarrier.wait(o_full.index(t), (N - 1) & 1)
        x = o.index(t).load(R) / a[:, None]
        rows = m0 + 128 * t + gl.arange(0, 128, row)
        cols = h * 64 + gl.arange(0, 64, gl.SliceLayout(0, R))
        gl.store(out + rows[:, None] * 1024 + cols[None, :], x.to(gl.float16))


@gluon.jit
def attend(q, k, v, out, scale, n_ctx, D: gl.constexpr):
    N = gl.cdiv(n_ctx, 128)
    m0 = gl.program_id(0) * 256
    h = gl.program_id(1)
    MB: gl.constexpr = mbarrier.MBarrierLayout()
    qs = gl.allocate_shared_memory(gl.float16, [2, 128, 64], q.layout)
    S1: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    al = gl.allocate_shared_memory(gl.float32, [2, 128], S1)
    rk = ring(gl.float16, [D, 128, 64], k, D, 1)
    rv = ring(gl.float16, [D, 128, 64], v, D, 1)
    s = bw.allocate_tensor_memory(gl.float32, [2, 128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    p = bw.allocate_tensor_memory(gl.float16, [2, 128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    o = bw.allocate_tensor_memory(gl.float32, [2, 128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1))
    q_full = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    s_full = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    p_full = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    o_full = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    o_free = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    al_full = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    al_free = gl.allocate_shared_memory(gl.int64, [2, 1], MB)
    for i in gl.static_range(2):
        mbarrier.init(q_full.index(i), count=1)
        mbarrier.init(s_full.index(i), count=1)
        mbarrier.init(p_full.index(i), count=1)
        mbarrier.init(o_full.index(i), count=1)
        mbarrier.init(o_free.index(i), count=1)
        mbarrier.init(al_full.index(i), count=1)
        mbarrier.init(al_free.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (at_correct, (out, o, al, al_full, al_free, o_full, o_free, m0, h, N)),
        (at_softmax, (s, p, al, s_full, p_full, al_full, al_free, scale, N, 0)),
        (at_softmax, (s, p, al, s_full, p_full, al_full, al_free, scale, N, 1)),
        (at_mma, (qs, q_full, rk, rv, s, p, o, s_full, p_full, o_full, o_free, N)),
        (at_load, (q, k, v, qs, q_full, rk, rv, m0, h, N)),
    ], [4, 4, 1, 1], [168, 168, 48, 48])


def main():
    folder = pathlib.Path(sys.argv[1])
    half, wide, tile = desc([64, 64]), desc([64, 128]), desc([128, 64])
    row = f"tensordesc<fp16[1, 64],{gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)!r}>"
    numbers = desc([128, 128], "fp8e4nv", gl.float8e4nv)
    scales = f"tensordesc<u8[1, 1, 1, 2, 256],{gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=8, rank=5)!r}>"
    kernels = [
        (gather, {"x": row, "y": row, "idx": "*i32", "K": "i32"}, 3, 100),
        (scaled, {"a": numbers, "b": numbers, "sa": scales, "sb": scales, "c": "*fp16", "K": "i32"}, 3, 100),
        (dequant, {"a": half, "w": desc([64, 128], "i8", gl.int8), "w16": wide, "c": "*fp16", "scale": "fp32", "K": "i32"}, 3, 90),
        (splitk, {"a": tile, "b": tile, "c": desc([128, 64], "fp32", gl.float32), "mt": "i32", "tiles": "i32", "K": "i32"}, 3, 100),
        (dynamic, {"a": half, "b": wide, "c": "*fp16", "counter": "*i32", "mt": "i32", "tiles": "i32", "K": "i32"}, 3, 90),
        (whiles, {"a": half, "b": wide, "c": "*fp16", "mt": "i32", "tiles": "i32", "K": "i32"}, 3, 90),
        (attend, {"q": tile, "k": tile, "v": tile, "out": "*fp16", "scale": "fp32", "n_ctx": "i32"}, 2, 100),
    ]
    for kernel, signature, depth, arch in kernels:
        make(kernel, signature, depth, arch, folder)


if __name__ == "__main__":
    main()
