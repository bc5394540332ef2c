"""Three more Gluon kernels whose TTGIR stands beside this file, made as kernels.py says: two accumulators with arrivals under conditions, boxes of two
consumers that a third role stores, and blocks that are skipped. Usage, with Triton 3.6: sparse.py FOLDER
"""
import pathlib
import sys

from kernels import desc, make
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell as bw
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


@gluon.jit
def bars(n: gl.constexpr, count: gl.constexpr):
    b = gl.allocate_shared_memory(gl.int64, [n, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(n):
        mbarrier.init(b.index(i), count=count)
    return b


# Blackwell, persistent: two accumulators in turns, one role for both, an epilogue for each
@gluon.jit
def da_load(a, b, As, Bs, full, empty, mt, tiles, N, D: gl.constexpr):
    i = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), 2 * a.block_type.nbytes + b.block_type.nbytes)
            for h in gl.static_range(2):
                tma.async_copy_global_to_shared(a, [(tile % mt) * 256 + 128 * h, n * 64], full.index(s), As.index(s * 2 + h))
            tma.async_copy_global_to_shared(b, [(tile // mt) * 64, n * 64], full.index(s), Bs.index(s))
            i += 1


@gluon.jit
def da_mma(As, Bs, full, empty, acc0, acc1, ready, free, tiles, N, D: gl.constexpr):
    i = 0
    p = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        use = False
        for n in range(N):
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            B = Bs.index(s).permute((1, 0))
            mbarrier.wait(free.index(0), p, pred=n == 0)
            bw.tcgen05_mma(As.index(s * 2), B, acc0, use_acc=use, mbarriers=[ready.index(0)], mbarrier_preds=[n == N - 1])
            mbarrier.wait(free.index(1), p, pred=n == 0)
            bw.tcgen05_mma(As.index(s * 2 + 1), B, acc1, use_acc=use, mbarriers=[ready.index(1), empty.index(s)], mbarrier_preds=[n == N - 1, True])
            use = True
            i += 1
        p ^= 1


@gluon.jit
def da_epi(c, acc, ready, free, mt, tiles, H: gl.constexpr):
    R: gl.constexpr = bw.get_tmem_reg_layout(gl.float32, [128, 64], bw.TensorMemoryLayout([128, 64], col_stride=1), 4)
    p = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(ready.index(H), p)
        x = acc.load(R)
        mbarrier.arrive(free.index(H), count=1)
        rows = (tile % mt) * 256 + 128 * H + gl.arange(0, 128, gl.SliceLayout(1, R))
        cols = (tile // mt) * 64 + gl.arange(0, 64, gl.SliceLayout(0, R))
        gl.store(c + rows[:, None] * 4096 + cols[None, :], x.to(gl.float16))
        p ^= 1


@gluon.jit
def dual(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [2 * D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], b.layout)
    T: gl.constexpr = bw.TensorMemoryLayout([128, 64], col_stride=1)
    acc0 = bw.allocate_tensor_memory(gl.float32, [128, 64], T)
    acc1 = bw.allocate_tensor_memory(gl.float32, [128, 64], T)
    full = bars(D, 1)
    empty = bars(D, 1)
    ready = bars(2, 1)
    free = bars(2, 1)
    fence_async_shared()
    gl.warp_specialize([
        (da_epi, (c, acc0, ready, free, mt, tiles, 0)),
        (da_epi, (c, acc1, ready, free, mt, tiles, 1)),
        (da_mma, (As, Bs, full, empty, acc0, acc1, ready, free, tiles, N, D)),
        (da_load, (a, b, As, Bs, full, empty, mt, tiles, N, D)),
    ], [4, 1, 1], [128, 48, 48])


# persistent: a ring of 3 boxes from two consumers, stored by one role
@gluon.jit
def rr_load(a, b, As, Bs, full, empty, mt, tiles, N, D: gl.constexpr):
    s = 0
    p = 1
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for n in range(N):
            mbarrier.wait(empty.index(s), p)
            mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [(tile % mt) * 128, n * 64], full.index(s), As.index(s))
            tma.async_copy_global_to_shared(b, [n * 64, (tile // mt) * 64], full.index(s), Bs.index(s))
            p = p ^ (s == D - 1)
            s = gl.where(s == D - 1, 0, s + 1)


@gluon.jit
def rr_wg(As, Bs, Cs, full, empty, cf, ce, tiles, N, W: gl.constexpr, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    s = 0
    p = 0
    k = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([64, 64], gl.float32, L)
        for n in range(N):
            mbarrier.wait(full.index(s), p)
            acc = warpgroup_mma(As.index(s).slice(64 * W, 64, dim=0), Bs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            p = p ^ (s == D - 1)
            s = gl.where(s == D - 1, 0, s + 1)
        u = k % 3
        mbarrier.wait(ce.index(u), ((k // 3) & 1) ^ 1)
        Cs.index(u).slice(64 * W, 64, dim=0).store(acc)
        fence_async_shared()
        mbarrier.arrive(cf.index(u), count=1)
        k += 1


@gluon.jit
def rr_store(c, Cs, cf, ce, mt, tiles):
    k = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(cf.index(k % 3), (k // 3) & 1)
        tma.async_copy_shared_to_global(c, [(tile % mt) * 128, (tile // mt) * 64], Cs.index(k % 3))
        tma.store_wait(2)
        mbarrier.arrive(ce.index((k + 1) % 3), count=1, pred=k >= 2)
        k += 1
    tma.store_wait(0)


@gluon.jit
def redring(a, b, c, mt, tiles, K, D: gl.constexpr):
    N = gl.cdiv(K, 64)
    As = gl.allocate_shared_memory(gl.float16, [D, 128, 64], a.layout)
    Bs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], b.layout)
    Cs = gl.allocate_shared_memory(gl.float32, [3, 128, 64], c.layout)
    full = bars(D, 1)
    empty = bars(D, 2)
    cf = bars(3, 2)
    ce = bars(3, 1)
    fence_async_shared()
    gl.warp_specialize([
        (rr_wg, (As, Bs, Cs, full, empty, cf, ce, tiles, N, 0, D)),
        (rr_wg, (As, Bs, Cs, full, empty, cf, ce, tiles, N, 1, D)),
        (rr_load, (a, b, As, Bs, full, empty, mt, tiles, N, D)),
        (rr_store, (c, Cs, cf, ce, mt, tiles)),
    ], [4, 1, 1], [160, 24, 24])


# local attention: bounds by min and max; blocks are skipped where an array says so
@gluon.jit
def la_load(q, k, v, skip, Qs, Ks, Vs, qf, full, empty, m0, lo, hi, D: gl.constexpr):
    mbarrier.expect(qf, q.block_type.nbytes)
    tma.async_copy_global_to_shared(q, [m0, 0], qf, Qs)
    i = 0
    for n in range(lo, hi):
        if gl.load(skip + n) == 0:
            s = i % D
            mbarrier.wait(empty.index(s), ((i // D) & 1) ^ 1)
            mbarrier.expect(full.index(s), k.block_type.nbytes + v.block_type.nbytes)
            tma.async_copy_global_to_shared(k, [n * 64, 0], full.index(s), Ks.index(s))
            tma.async_copy_global_to_shared(v, [n * 64, 0], full.index(s), Vs.index(s))
            i += 1


@gluon.jit
def la_wg(o, skip, Qs, Ks, Vs, qf, full, empty, m0, lo, hi, D: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    A: gl.constexpr = gl.DotOperandLayout(0, L, 2)
    acc = gl.zeros([64, 64], gl.float32, L)
    zero = gl.zeros([64, 64], gl.float32, L)
    mbarrier.wait(qf, 0)
    i = 0
    for n in range(lo, hi):
        if gl.load(skip + n) == 0:
            s = i % D
            mbarrier.wait(full.index(s), (i // D) & 1)
            S = warpgroup_mma(Qs, Ks.index(s).permute((1, 0)), zero, is_async=True)
            S = warpgroup_mma_wait(0, deps=[S])
            acc = warpgroup_mma(gl.convert_layout(gl.exp2(S).to(gl.float16), A), Vs.index(s), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(s), count=1)
            i += 1
    rows = m0 + gl.arange(0, 64, gl.SliceLayout(1, L))
    cols = gl.arange(0, 64, gl.SliceLayout(0, L))
    gl.store(o + rows[:, None] * 64 + cols[None, :], acc.to(gl.float16))


@gluon.jit
def local(q, k, v, o, skip, S, W, D: gl.constexpr):
    m0 = gl.program_id(0) * 64
    lo = gl.maximum(gl.program_id(0) - W, 0)
    hi = gl.minimum(gl.program_id(0) + W + 1, gl.cdiv(S, 64))
    Qs = gl.allocate_shared_memory(gl.float16, [64, 64], q.layout)
    Ks = gl.allocate_shared_memory(gl.float16, [D, 64, 64], k.layout)
    Vs = gl.allocate_shared_memory(gl.float16, [D, 64, 64], v.layout)
    qf = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(qf, count=1)
    full = bars(D, 1)
    empty = bars(D, 1)
    fence_async_shared()
    gl.warp_specialize([
        (la_wg, (o, skip, Qs, Ks, Vs, qf, full, empty, m0, lo, hi, D)),
        (la_load, (q, k, v, skip, Qs, Ks, Vs, qf, full, empty, m0, lo, hi, D)),
    ], [1], [24])


def main():
    folder = pathlib.Path(sys.argv[1])
    half, tile, sums = desc([64, 64]), desc([128, 64]), desc([128, 64], "fp32", gl.float32)
    tiles = {"mt": "i32", "tiles": "i32", "K": "i32"}
    for kernel, signature, depth, arch in [
        (dual, {"a": tile, "b": half, "c": "*fp16", **tiles}, 2, 100),
        (redring, {"a": tile, "b": half, "c": sums, **tiles}, 3, 90),
        (local, {"q": half, "k": half, "v": half, "o": "*fp16", "skip": "*i32", "S": "i32", "W": "i32"}, 2, 90),
    ]:
        make(kernel, signature, depth, arch, folder)


if __name__ == "__main__":
    main()
