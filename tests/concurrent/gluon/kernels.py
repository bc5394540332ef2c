"""Gluon kernels whose TTGIR stands beside this file: made with Triton 3.6, places in the source taken out. Their author wrote them as users do,
not as Twill prints. Usage, with such a Triton: kernels.py FOLDER
"""
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia import blackwell as bw
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


# Two consumers in turns by named barriers
@gluon.jit
def assembly(ptx: gl.constexpr):
    gl.inline_asm_elementwise(ptx + "; mov.u32 $0, 0;", "=r", [], dtype=gl.int32, is_pure=False, pack=1)


@gluon.jit
def a_load(a, b, As, Bs, full, empty, m0, n0, N, D: gl.constexpr):
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m0, n * 64], full.index(s), As.index(s))
        tma.async_copy_global_to_shared(b, [n * 64, n0], full.index(s), Bs.index(s))


@gluon.jit
def a_wg(c, As, Bs, full, empty, m0, n0, N, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    if W == 1:
        assembly("bar.arrive 8, 256")
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        if W == 0:
            assembly("bar.sync 8, 256")
        else:
            assembly("bar.sync 9, 256")
        acc = warpgroup_mma(As.index(s).slice(64 * W, 64, dim=0), Bs.index(s), acc, is_async=True)
        if W == 0:
            assembly("bar.arrive 9, 256")
        else:
            assembly("bar.arrive 8, 256")
        acc = warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(empty.index(s), count=1)
    if W == 0:
        assembly("bar.sync 8, 256")
    rows = m0 + 64 * W + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def turns(a, b, c, K, D: gl.constexpr):
    m0 = gl.program_id(0) * 128
    n0 = gl.program_id(1) * 128
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 128], b.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    fence_async_shared()
    gl.warp_specialize([
        (a_wg, (c, As, Bs, full, empty, m0, n0, N, 0, D)),
        (a_wg, (c, As, Bs, full, empty, m0, n0, N, 1, D)),
        (a_load, (a, b, As, Bs, full, empty, m0, n0, N, D)),
    ], [4, 1], [240, 24])

# Persistent, Blackwell, two accumulators
@gluon.jit
def b_load(a, b, As, Bs, full, empty, mt, tiles, N, D: gl.constexpr):
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        m0 = (tile % mt) * 128
        n0 = (tile // mt) * 128
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [m0, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n0, n * 64], full.index(s), Bs.index(s))
            i += 1


@gluon.jit
def b_mma(As, Bs, full, empty, acc, ready, free, tiles, N, D: gl.constexpr):
    i = 0
    t = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(free.index(t % 2), ((t // 2) & 1) ^ 1)
        use = False
        for n in range(N):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            bw.tcgen05_mma(As.index(s), Bs.index(s).permute((1, 0)), acc.index(t % 2), use_acc=use, mbarriers=[empty.index(s)])
            use = True
            i += 1
        bw.tcgen05_commit(ready.index(t % 2))
        t += 1


@gluon.jit
def b_epi(c, Cs, acc, ready, free, mt, tiles):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 128], acc.index(0).layout, 4)
    t = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(ready.index(t % 2), (t // 2) & 1)
        x = acc.index(t % 2).load(R)
        mbarrier.arrive(free.index(t % 2), count=1)
        tma.store_wait(1)
        Cs.index(t % 2).store(x.to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [(tile % mt) * 128, (tile // mt) * 128], Cs.index(t % 2))
        t += 1
    tma.store_wait(0)


@gluon.jit
def persist(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 128, 64], b.layout)
    Cs = gl.allocate_shared_memory(gl.float16, [2, 128, 128], c.layout)
    acc = bw.allocate_tensor_memory(gl.float32, [2, 128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    ready = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    free = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (b_epi, (c, Cs, acc, ready, free, mt, tiles)),
        (b_mma, (As, Bs, full, empty, acc, ready, free, tiles, N, D)),
        (b_load, (a, b, As, Bs, full, empty, mt, tiles, N, D)),
    ], [1, 1], [48, 48])

# Copies by a whole warpgroup, groups and mbarriers
@gluon.jit
def c_load(x, Xs, full, empty, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    p = x + rows[:, None] * 4096 + cols[None, :]
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        async_copy.async_copy_global_to_shared(Xs.index(s), p + n * 64)
        async_copy.mbarrier_arrive(full.index(s), increment_count=False)


@gluon.jit
def c_work(y, Xs, full, empty, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    acc = gl.zeros([64, 64], gl.float32, L)
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        acc += Xs.index(s).load(L).to(gl.float32)
        mbarrier.arrive(empty.index(s), count=1)
    rows = gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    gl.store(y + rows[:, None] * 64 + cols[None, :], acc)


@gluon.jit
def copies(x, y, K, D: gl.constexpr):
    N = K // 64
    S: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    Xs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], S)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=128)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([
        (c_work, (y, Xs, full, empty, N, D)),
        (c_load, (x, Xs, full, empty, N, D)),
    ], [4], [64])

# Load, work, store: three roles, rings in and out, no products
@gluon.jit
def d_load(x, Xs, full, empty, N, D: gl.constexpr):
    slot = 0
    phase = 1
    for n in range(N):
        mbarrier.wait(empty.index(slot), phase)
        mbarrier.expect(full.index(slot), x.block_type.nbytes)
        tma.async_copy_global_to_shared(x, [gl.program_id(0) * 64, n * 64], full.index(slot), Xs.index(slot))
        slot += 1
        if slot == D:
            slot = 0
            phase ^= 1


@gluon.jit
def d_work(Xs, Ys, full, empty, yfull, yempty, N, D: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    for n in range(N):
        s = n % D
        t = n % 2
        mbarrier.wait(full.index(s), (n // D) & 1)
        v = Xs.index(s).load(L)
        mbarrier.arrive(empty.index(s), count=1)
        mbarrier.wait(yempty.index(t), ((n // 2) & 1) ^ 1)
        Ys.index(t).store((v.to(gl.float32) * 2.0).to(gl.float16))
        fence_async_shared()
        mbarrier.arrive(yfull.index(t), count=1)


@gluon.jit
def d_store(y, Ys, yfull, yempty, N):
    for n in range(N):
        t = n % 2
        mbarrier.wait(yfull.index(t), (n // 2) & 1)
        tma.async_copy_shared_to_global(y, [gl.program_id(0) * 64, n * 64], Ys.index(t))
        if n > 0:
            tma.store_wait(1)
            mbarrier.arrive(yempty.index((n - 1) % 2), count=1)
    tma.store_wait(0)


@gluon.jit
def stream(x, y, K, D: gl.constexpr):
    N = K // 64
    Xs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], x.layout)
    Ys = gl.allocate_shared_memory(gl.float16, [2, 64, 64], y.layout)
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
        (d_work, (Xs, Ys, full, empty, yfull, yempty, N, D)),
        (d_load, (x, Xs, full, empty, N, D)),
        (d_store, (y, Ys, yfull, yempty, N)),
    ], [1, 1], [24, 24])

# Trips that are loaded, for each group
@gluon.jit
def e_load(a, b, ks, As, Bs, full, empty, G, D: gl.constexpr):
    i = 0
    for g in range(gl.program_id(0), G, gl.num_programs(0)):
        N = gl.cdiv(gl.load(ks + g), 64)
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [g * 64, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n * 64, 0], full.index(s), Bs.index(s))
            i += 1


@gluon.jit
def e_wg(c, ks, As, Bs, full, empty, G, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    i = 0
    for g in range(gl.program_id(0), G, gl.num_programs(0)):
        N = gl.cdiv(gl.load(ks + g), 64)
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
        rows = g * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(c + rows[:, None] * 128 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def groups(a, b, c, ks, G, D: gl.constexpr):
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
        (e_wg, (c, ks, As, Bs, full, empty, G, D)),
        (e_load, (a, b, ks, As, Bs, full, empty, G, D)),
    ], [1], [24])

# A consumer that releases one iteration late
@gluon.jit
def f_wg(c, As, Bs, full, empty, m0, n0, N, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    acc = gl.zeros([64, 128], gl.float32, L)
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        acc = warpgroup_mma(As.index(s), Bs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        mbarrier.arrive(empty.index((n + D - 1) % D), count=1, pred=n > 0)
    acc = warpgroup_mma_wait(0, deps=[acc])
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = n0 + gl.arange(0, 128, gl.SliceLayout(0, L))
    gl.store(c + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def late(a, b, c, K, D: gl.constexpr):
    m0 = gl.program_id(0) * 64
    n0 = gl.program_id(1) * 128
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
        (f_wg, (c, As, Bs, full, empty, m0, n0, N, D)),
        (a_load, (a, b, As, Bs, full, empty, m0, n0, N, D)),
    ], [1], [24])


# Blackwell, a product's sum in halves: powers of both lie where the first one was
@gluon.jit
def g_load(a, b, As, Bs, a_full, full, empty, m0, N, D: gl.constexpr):
    mbarrier.expect(a_full, a.block_type.nbytes)
    tma.async_copy_global_to_shared(a, [m0, 0], a_full, As)
    for n in range(N):
        s = n % D
        mbarrier.wait(empty.index(s), ((n // D) & 1) ^ 1)
        mbarrier.expect(full.index(s), b.block_type.nbytes)
        tma.async_copy_global_to_shared(b, [n * 128, 0], full.index(s), Bs.index(s))


@gluon.jit
def g_mma(As, Bs, a_full, full, empty, acc, out, ready, powers, done, N, D: gl.constexpr):
    mbarrier.wait(a_full, 0)
    for n in range(N):
        s = n % D
        mbarrier.wait(full.index(s), (n // D) & 1)
        bw.tcgen05_mma(As, Bs.index(s).permute((1, 0)), acc, use_acc=False, mbarriers=[ready])
        mbarrier.wait(powers, n & 1)
        P = acc.slice(0, 64)._reinterpret(gl.float16, [128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
        bw.tcgen05_mma(P, Bs.index(s), out, mbarriers=[empty.index(s)])
    bw.tcgen05_commit(done)


@gluon.jit
def g_powers(c, acc, out, ready, powers, done, m0, N):
    H: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 64], acc.slice(0, 64).layout, 4)
    Q: gl.constexpr = bw.get_tmem_reg_layout(gl.float16, [128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1), 4)
    for n in range(N):
        mbarrier.wait(ready, n & 1)
        left = gl.exp2(acc.slice(0, 64).load(H)).to(gl.float16)
        right = gl.exp2(acc.slice(64, 64).load(H)).to(gl.float16)
        P = acc.slice(0, 64)._reinterpret(gl.float16, [128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
        P.slice(0, 64).store(gl.convert_layout(left, Q))
        P.slice(64, 64).store(gl.convert_layout(right, Q))
        mbarrier.arrive(powers, count=1)
    mbarrier.wait(done, 0)
    rows = m0 + gl.arange(0, 128, gl.SliceLayout(1, H))
    cols = gl.arange(0, 64, gl.SliceLayout(0, H))
    gl.store(c + rows[:, None] * 64 + cols[None, :], out.load(H).to(gl.float16))


@gluon.jit
def halves(a, b, c, K, D: gl.constexpr):
    N = gl.cdiv(K, 128)
    m0 = gl.program_id(0) * 128
    As = gl.allocate_shared_memory(gl.float16, [128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 128, 64], b.layout)
    acc = bw.allocate_tensor_memory(gl.float32, [128, 128], bw.TensorMemoryLayout([128, 128], col_stride=1))
    out = bw.allocate_tensor_memory(gl.float32, [128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1))
    out.store(gl.zeros([128, 64], gl.float32, bw.get_tmem_reg_layout(gl.float32, [128, 64], out.layout, 4)))
    B: gl.constexpr = mbarrier.MBarrierLayout()
    a_full = gl.allocate_shared_memory(gl.int64, [1], B)
    full = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    empty = gl.allocate_shared_memory(gl.int64, [D, 1], B)
    ready = gl.allocate_shared_memory(gl.int64, [1], B)
    powers = gl.allocate_shared_memory(gl.int64, [1], B)
    done = gl.allocate_shared_memory(gl.int64, [1], B)
    mbarrier.init(a_full, count=1)
    mbarrier.init(ready, count=1)
    mbarrier.init(powers, count=1)
    mbarrier.init(done, count=1)
    for i in gl.static_range(D):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (g_powers, (c, acc, out, ready, powers, done, m0, N)),
        (g_mma, (As, Bs, a_full, full, empty, acc, out, ready, powers, done, N, D)),
        (g_load, (a, b, As, Bs, a_full, full, empty, m0, N, D)),
    ], [1, 1], [48, 48])


# Persistent, rings of 3 and of 2 slots: fillings are counted by adding a tile's number of iterations
@gluon.jit
def h_load(a, b, As, Bs, a_full, a_empty, b_full, b_empty, mt, tiles, N):
    done = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            c = done + n
            mbarrier.wait(a_empty.index(c % 3), ((c // 3) & 1) ^ 1)
            mbarrier.expect(a_full.index(c % 3), a.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 64, n * 64], a_full.index(c % 3), As.index(c % 3))
            mbarrier.wait(b_empty.index(c % 2), ((c // 2) & 1) ^ 1)
            mbarrier.expect(b_full.index(c % 2), b.block_type.nbytes)
            tma.async_copy_global_to_shared(b, [n * 64, (tile // mt) * 128], b_full.index(c % 2), Bs.index(c % 2))
        done += N


@gluon.jit
def h_wg(o, As, Bs, a_full, a_empty, b_full, b_empty, mt, tiles, N):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    done = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 128], gl.float32, L)
        for n in range(N):
            c = done + n
            mbarrier.wait(a_full.index(c % 3), (c // 3) & 1)
            mbarrier.wait(b_full.index(c % 2), (c // 2) & 1)
            acc = warpgroup_mma(As.index(c % 3), Bs.index(c % 2), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(a_empty.index(c % 3), count=1)
            mbarrier.arrive(b_empty.index(c % 2), count=1)
        rows = (tile % mt) * 64 + gl.arange(0, 64, gl.SliceLayout(1, L))
        cols = (tile // mt) * 128 + gl.arange(0, 128, gl.SliceLayout(0, L))
        gl.store(o + rows[:, None] * 4096 + cols[None, :], acc.to(gl.float16))
        done += N


@gluon.jit
def added(a, b, o, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [3, 64, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [2, 64, 128], b.layout)
    B: gl.constexpr = mbarrier.MBarrierLayout()
    a_full = gl.allocate_shared_memory(gl.int64, [3, 1], B)
    a_empty = gl.allocate_shared_memory(gl.int64, [3, 1], B)
    b_full = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    b_empty = gl.allocate_shared_memory(gl.int64, [2, 1], B)
    for i in gl.static_range(3):
        mbarrier.init(a_full.index(i), count=1)
        mbarrier.init(a_empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(b_full.index(i), count=1)
        mbarrier.init(b_empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (h_wg, (o, As, Bs, a_full, a_empty, b_full, b_empty, mt, tiles, N)),
        (h_load, (a, b, As, Bs, a_full, a_empty, b_full, b_empty, mt, tiles, N)),
    ], [1], [24])


def desc(shape, name="fp16", dtype=gl.float16):
    L = gl.NVMMASharedLayout.get_default_for(shape, dtype)
    return f"tensordesc<{name}{list(shape)},{L!r}>"


def without_places(text):
    """Takes loc(...) out."""
    lines = [line for line in text.split("\n") if not line.startswith("#loc")]
    kept, rest = "", "\n".join(lines)
    while " loc(" in rest:
        before, rest = rest.split(" loc(", 1)
        kept += before
        depth, at = 1, 0
        while depth > 0:
            quoted = re.match(r'"[^"]*"', rest[at:])
            at += len(quoted.group()) if quoted else 1
            depth += 0 if quoted else (rest[at - 1] == "(") - (rest[at - 1] == ")")
        rest = rest[at:]
    return (kept + rest).strip() + "\n"


def make(kernel, signature, depth, arch, folder):
    aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind.startswith("*")}
    source = GluonASTSource(kernel, {**signature, "D": "constexpr"}, {"D": depth}, aligned)
    compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4})
    (folder / f"{kernel.fn.__name__}.ttgir").write_text(without_places(compiled.asm["ttgir"]))


def main():
    folder = pathlib.Path(sys.argv[1])
    tile, wide, out, half = desc([128, 64]), desc([64, 128]), desc([128, 128]), desc([64, 64])
    kernels = [
        (turns, {"a": tile, "b": wide, "c": "*fp16", "K": "i32"}, 4, 90),
        (persist, {"a": tile, "b": tile, "c": out, "mt": "i32", "tiles": "i32", "K": "i32"}, 4, 100),
        (copies, {"x": "*fp16", "y": "*fp32", "K": "i32"}, 3, 90),
        (stream, {"x": half, "y": half, "K": "i32"}, 3, 90),
        (groups, {"a": half, "b": wide, "c": "*fp16", "ks": "*i32", "G": "i32"}, 4, 90),
        (late, {"a": half, "b": wide, "c": "*fp16", "K": "i32"}, 4, 90),
        (added, {"a": half, "b": wide, "o": "*fp16", "mt": "i32", "tiles": "i32", "K": "i32"}, 3, 90),
        (halves, {"a": tile, "b": tile, "c": "*fp16", "K": "i32"}, 3, 100),
    ]
    for kernel, signature, depth, arch in kernels:
        make(kernel, signature, depth, arch, folder)


if __name__ == "__main__":
    main()
