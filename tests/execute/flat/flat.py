# The kernels of this folder: persistent products whose loop over tiles Triton flattens. Their texts are those of Triton 3.6 before
# it assigns latencies, without locations; tiles are small, so that the interpreter is quick.
import triton
import triton.language as tl


@triton.jit
def coords(tile, nm, nn, GROUP: tl.constexpr):
    first_m = (tile // (GROUP * nn)) * GROUP
    gsize = min(nm - first_m, GROUP)
    return first_m + (tile % (GROUP * nn)) % gsize, (tile % (GROUP * nn)) // gsize


@triton.jit
def bias(a_desc, b_desc, c_desc, bias_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        bv = tl.load(bias_ptr + n0 + tl.arange(0, BN))
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
        acc = tl.maximum(acc + bv[None, :], 0)
        c_desc.store([m0, n0], acc.to(tl.float16))


@triton.jit
def dual(a_desc, b_desc, b2_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        pm, pn = coords(tile, nm, nn, 8)
        m0 = pm * BM; n0 = pn * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        acc2 = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, tl.cdiv(K, BK)):
            a = a_desc.load([m0, k * BK])
            acc = tl.dot(a, b_desc.load([n0, k * BK]).T, acc)
            acc2 = tl.dot(a, b2_desc.load([n0, k * BK]).T, acc2)
        c_desc.store([m0, n0], (acc * tl.sigmoid(acc) * acc2).to(tl.float16))


@triton.jit
def tile_counted_twice(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN); kt = tl.cdiv(K, BK)
    tile_c = pid - NSM
    for tile in tl.range(pid, nm * nn, NSM, flatten=True):
        pm, pn = coords(tile, nm, nn, 8)
        m0 = pm * BM; n0 = pn * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for ki in range(kt):
            k = ki * BK
            acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
        tile_c += NSM
        pm, pn = coords(tile_c, nm, nn, 8)
        c_desc.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def num_programs(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, tl.num_programs(0), flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
        c_desc.store([m0, n0], acc.to(tl.float16))


@triton.jit
def pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN); kt = tl.cdiv(K, BK)
    ok = tl.arange(0, BK)
    for tile in tl.range(pid, nm * nn, NSM, flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        om = m0 + tl.arange(0, BM); on = n0 + tl.arange(0, BN)
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for ki in range(kt):
            k = ki * BK + ok
            a = tl.load(a_ptr + om[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
            b = tl.load(b_ptr + on[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
            acc = tl.dot(a, b.T, acc)
        tl.store(c_ptr + om[:, None] * N + on[None, :], acc.to(tl.float16), mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def constant_k(a_desc, b_desc, c_desc, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(a_desc.load([m0, k]), b_desc.load([n0, k]).T, acc)
        c_desc.store([m0, n0], acc.to(tl.float16))


@triton.jit
def carried_pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    ok = tl.arange(0, BK)
    for tile in tl.range(pid, nm * nn, NSM, flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        om = m0 + tl.arange(0, BM); on = n0 + tl.arange(0, BN)
        pa = a_ptr + om[:, None] * K + ok[None, :]
        pb = b_ptr + on[:, None] * K + ok[None, :]
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for ki in range(0, tl.cdiv(K, BK)):
            a = tl.load(pa, mask=ok[None, :] < K - ki * BK, other=0.0)
            b = tl.load(pb, mask=ok[None, :] < K - ki * BK, other=0.0)
            acc = tl.dot(a, b.T, acc)
            pa += BK
            pb += BK
        tl.store(c_ptr + om[:, None] * N + on[None, :], acc.to(tl.float16), mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def k_i64(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        m0 = (tile // nn) * BM
        n0 = (tile % nn) * BN
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K, BK):
            k32 = k.to(tl.int32)
            acc = tl.dot(a_desc.load([m0, k32]), b_desc.load([n0, k32]).T, acc)
        c_desc.store([m0, n0], acc.to(tl.float16))
