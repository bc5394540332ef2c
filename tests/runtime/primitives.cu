// Every primitive of the runtime alone, on a GPU, against what the CPU computes. Whole numbers
// throughout, so that every comparison is exact. Prints a line per primitive; the exit status is 0
// if all are right.
//
//   nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -I. tests/runtime/primitives.cu \
//     -o primitives && ./primitives
//
// (nvcc 13.0 with -arch=sm_90a also makes PTX for compute_90, which has no wgmma.)
#include <cmath>

#include "runtime/tile.cuh"
#include "tests/runtime/products.cuh"

namespace {

// ------------------------------------------------------------------ fragments and TMA store

/// The value of a tile of the test below at a place; different for each place of 256 x 256, modulo
/// the precision of bf16.
__host__ __device__ float mark(int row, int column) {
  return static_cast<float>((row * 7 + column * 3 + row / 8 * column) % 251 - 125);
}

/// Two warpgroups write a 128 x N tile into shared memory; one thread stores its panels.
template <int N, class T, bool Packed>
__global__ void __launch_bounds__(256, 1) round_trip(const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) char smem[];
  const int thread = twill::thread_in_warpgroup();
  const int first_row = twill::warpgroup_index() * 64;
  float d[N / 2 + 4];  // the fragment begins at value 4
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    d[4 + i] = mark(first_row + twill::row_of(thread, i), twill::column_of(thread, i));
  }
  if constexpr (Packed) {
    uint32_t packed[N / 4];
#pragma unroll
    for (int i = 0; i < N / 4; ++i) packed[i] = twill::pack<T>(d[4 + 2 * i], d[5 + 2 * i]);
    twill::store_fragment<N>(smem, packed, first_row, 128 * 128);
  } else {
    twill::store_fragment<N, 4>(reinterpret_cast<T*>(smem), d, first_row, 128 * 128);
  }
  twill::fence_proxy_async();
  twill::named_sync(1, 256);
  if (twill::warp_index() == 0 && twill::elect_one()) {
    for (int p = 0; p < panels_of(N); ++p) {
      twill::tma_store(&map, smem + p * 128 * 128, p * 64, 0);
    }
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

/// Into a matrix of fewer rows and columns than the panels have: the rest is clipped.
template <int N, class T, bool Packed>
bool check_round_trip(int rows) {
  std::vector<T> expected(128 * N + 64, T(-999.0F));
  const check::Buffer<T> out(expected);
  for (int i = 0; i < rows * N; ++i) expected[i] = T(mark(i / N, i % N));
  twill::Launch how;
  how.threads = 256;
  how.shared_bytes = panels_of(N) * 128 * 128;
  check::run("store_fragment", round_trip<N, T, Packed>, how,
             check::matrix_map(out.data(), rows, N, 128, 64, 128));
  return check::same(out.read(), expected, "store_fragment");
}

template <class T>
void check_round_trips(const char* what) {
  check::report(check_round_trip<64, T, false>(128) & check_round_trip<128, T, false>(100) &
                    check_round_trip<176, T, false>(77) & check_round_trip<128, T, true>(128) &
                    check_round_trip<256, T, true>(128),
                what);
}

/// D = P * B where P goes from fragments through shared memory into wgmma; B is N x 128, k-major.
__global__ void __launch_bounds__(128, 1)
    product_of_stored(const __grid_constant__ CUtensorMap map_b, float* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full;
  const int thread = twill::thread_in_warpgroup();
  if (thread == 0) {
    begin_load(&full, 2 * 8192);
    twill::tma_load(smem + 16384, &map_b, &full, 0, 0);
    twill::tma_load(smem + 24576, &map_b, &full, 64, 0);
  }
  float p[64];
  float d[32];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    p[i] = mark(twill::row_of(thread, i), twill::column_of(thread, i));
  }
  twill::store_fragment<128>(reinterpret_cast<__half*>(smem), p, 0, 8192);
  twill::fence_proxy_async();
  __syncthreads();
  twill::barrier_wait(&full, 0);
  const uint64_t a = twill::operand(smem, 0, 1024, 128);
  const uint64_t b = twill::operand(smem + 16384, 0, 1024, 128);
  twill::wgmma_fence();
#pragma unroll
  for (int k = 0; k < 128; k += 16) {
    const int bytes = k / 64 * 8192 + k % 64 * 2;
    twill::wgmma_ss<64, __half, Major::k, Major::k>(d, twill::advance(a, bytes),
                                                    twill::advance(b, bytes), k != 0);
  }
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  twill::settle(d);
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    out[twill::row_of(thread, i) * 64 + twill::column_of(thread, i)] = d[i];
  }
}

void check_product_of_stored() {
  std::vector<__half> p(64 * 128);
  for (int i = 0; i < 64 * 128; ++i) p[i] = __half(mark(i / 128, i % 128));
  const std::vector<__half> b = check::small_integers<__half>(64 * 128, 5);
  const check::Buffer<__half> b_stored(b);
  const check::Buffer<float> out(std::vector<float>(64 * 64, -1e30F));
  twill::Launch how;
  how.threads = 128;
  how.shared_bytes = 32768;
  check::run("product of stored", product_of_stored, how,
             check::matrix_map(b_stored.data(), 64, 128, 64, 64, 128), out.data());
  check::report(check::same(out.read(), reference(p, b, 64, 64, 128), "P * B"),
                "store_fragment, fence_proxy_async, wgmma reads it");
}

/// Writes a fragment as a tile and reads it again, then as staged registers and reads those; counts
/// the registers that differ.
__global__ void __launch_bounds__(128, 1) reload(int* wrong) {
  extern __shared__ __align__(1024) char smem[];
  const int thread = twill::thread_in_warpgroup();
  uint32_t packed[32];
  uint32_t tile[33] = {};
  uint32_t staged[33] = {};
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int row = twill::row_of(thread, 2 * i);
    const int column = twill::column_of(thread, 2 * i);
    packed[i] = twill::pack<__half>(mark(row, column), mark(row, column + 1));
  }
  twill::store_fragment<128>(smem, packed, 8, 9216);
  __syncthreads();
  twill::load_fragment<128, 1>(tile, smem, 8, 9216);
  tile[0] = threadIdx.x;
  __syncthreads();
  twill::stage(smem, tile);
  __syncthreads();
  twill::read_staged(smem, staged);
  int count = staged[0] == threadIdx.x ? 0 : 1;
#pragma unroll
  for (int i = 0; i < 32; ++i) count += staged[i + 1] == packed[i] ? 0 : 1;
  atomicAdd(wrong, count);
}

void check_reload() {
  const check::Buffer<int> wrong(std::vector<int>{0});
  twill::Launch how;
  how.threads = 128;
  how.shared_bytes = 2 * 9216;
  check::run("load_fragment", reload, how, wrong.data());
  check::report(check::same(wrong.read(), {0}, "registers that differ"),
                "store_fragment, load_fragment; stage, read_staged");
}

__global__ void transposing_store(__half* out) {
  __shared__ __align__(16) __half tile[4][8][8];
  const int lane = static_cast<int>(threadIdx.x);
  uint32_t r[4];
  for (int m = 0; m < 4; ++m) {
    const float first = static_cast<float>(m * 64 + lane / 4 * 8 + lane % 4 * 2);
    r[m] = twill::pack<__half>(first, first + 1);
  }
  twill::stmatrix_x4_trans(&tile[lane / 8][lane % 8][0], r[0], r[1], r[2], r[3]);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) out[i] = tile[i / 64][i % 64 / 8][i % 8];
}

void check_transposing_store() {
  std::vector<__half> expected(256);
  for (int i = 0; i < 256; ++i) {
    expected[i] = __half(static_cast<float>(i / 64 * 64 + i % 8 * 8 + i % 64 / 8));
  }
  const check::Buffer<__half> out(std::vector<__half>(256, __half(-1.0F)));
  twill::Launch how;
  how.threads = 32;
  check::run("stmatrix_x4_trans", transposing_store, how, out.data());
  check::report(check::same(out.read(), expected, "stmatrix_x4_trans"), "stmatrix_x4_trans");
}

// ------------------------------------------------------------------ rings, roles, clusters

constexpr int kDepth = 3;

/// out (tiles * 128 x 128) = A * B^T by a producer warp and two consumer warpgroups, persistent
/// over tiles of 128 rows. In a cluster of two, each CTA has its own rows of A and loads half of B
/// for both.
template <int Cluster>
__global__ void __launch_bounds__(384, 1)
    ring_gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              int k_blocks, int tiles, float* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full[kDepth];
  __shared__ uint64_t empty[kDepth];
  const int warp = twill::warp_index();
  const int group = twill::warpgroup_index();
  if (warp == 0 && twill::elect_one()) {
    twill::prefetch_map(&map_a);
    twill::prefetch_map(&map_b);
    for (int i = 0; i < kDepth; ++i) {
      twill::barrier_init(&full[i], 1);
      twill::barrier_init(&empty[i], 2 * Cluster);
    }
    twill::barrier_init_fence();
  }
  twill::cluster_arrive();
  twill::cluster_wait();

  twill::Ring<kDepth> ring;
  const int first_tile = static_cast<int>(blockIdx.x);
  const int step = static_cast<int>(gridDim.x);
  if (group == 0) {
    twill::registers_drop<24>();
    if (warp == 0 && twill::elect_one()) {
      const int rank = Cluster == 1 ? 0 : static_cast<int>(twill::cluster_rank());
#pragma unroll 1
      for (int tile = first_tile; tile < tiles; tile += step) {
#pragma unroll 1
        for (int k = 0; k < k_blocks; ++k, ring.advance()) {
          char* stage = smem + ring.slot * 32768;
          uint64_t* bar = &full[ring.slot];
          twill::barrier_wait(&empty[ring.slot], ring.phase ^ 1);
          twill::barrier_expect(bar, 32768);
          twill::tma_load(stage, &map_a, bar, k * 64, tile * 128);
          if constexpr (Cluster == 1) {
            twill::tma_load(stage + 16384, &map_b, bar, k * 64, 0);
          } else {
            twill::tma_load_multicast(stage + 16384 + rank * 8192, &map_b, bar, uint16_t{3}, k * 64,
                                      rank * 64);
          }
        }
      }
      for (int i = 0; i < kDepth; ++i, ring.advance()) {  // no CTA exits before its peer is done
        twill::barrier_wait(&empty[ring.slot], ring.phase ^ 1);
      }
    }
  } else {
    twill::registers_raise<240>();
    const int rows = (group - 1) * 64;
    const int thread = twill::thread_in_warpgroup();
#pragma unroll 1
    for (int tile = first_tile; tile < tiles; tile += step) {
      float d[64];
#pragma unroll 1
      for (int k = 0; k < k_blocks; ++k, ring.advance()) {
        const char* stage = smem + ring.slot * 32768;
        const uint64_t a = twill::operand(stage + rows * 128, 0, 1024, 128);
        const uint64_t b = twill::operand(stage + 16384, 0, 1024, 128);
        twill::barrier_wait(&full[ring.slot], ring.phase);
        twill::wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          twill::wgmma_ss<128, __half, Major::k, Major::k>(d, twill::advance(a, 32 * i),
                                                           twill::advance(b, 32 * i), k + i != 0);
        }
        twill::wgmma_commit();
        twill::wgmma_wait<0>();
        if (thread < Cluster) {
          twill::barrier_arrive_remote(&empty[ring.slot], static_cast<uint32_t>(thread));
        }
      }
      twill::settle(d);
#pragma unroll
      for (int i = 0; i < 64; ++i) {
        out[(tile * 128 + rows + twill::row_of(thread, i)) * 128 + twill::column_of(thread, i)] =
            d[i];
      }
    }
  }
}

template <int Cluster>
void check_ring_gemm(const char* what) {
  constexpr int kTiles = 12;
  constexpr int kBlocks = 17;
  constexpr int kSize = kBlocks * 64;
  const std::vector<__half> a = check::small_integers<__half>(kTiles * 128 * kSize, 11);
  const std::vector<__half> b = check::small_integers<__half>(128 * kSize, 12);
  const check::Buffer<__half> a_stored(a);
  const check::Buffer<__half> b_stored(b);
  const check::Buffer<float> out(std::vector<float>(kTiles * 128 * 128, -1e30F));
  twill::Launch how;
  how.threads = 384;
  how.grid = dim3(4);
  how.cluster = Cluster;
  how.shared_bytes = kDepth * 32768;
  int resident = 0;
  check::require(twill::resident_ctas(&resident, ring_gemm<Cluster>, how), what);
  for (int repeat = 0; repeat < 20; ++repeat) {
    check::run(what, ring_gemm<Cluster>, how,
               check::matrix_map(a_stored.data(), kTiles * 128, kSize, 128, 64, 128),
               check::matrix_map(b_stored.data(), 128, kSize, 128 / Cluster, 64, 128), kBlocks,
               kTiles, out.data());
  }
  const bool good = check::same(out.read(), reference(a, b, kTiles * 128, 128, kSize), what);
  check::report(good && resident % Cluster == 0 && resident >= 4, what);
}

/// Two warpgroups take turns, handing over by named barriers; each turn logs its group.
__global__ void __launch_bounds__(256, 1) turns(int count, int* log) {
  __shared__ int next;
  const int group = twill::warpgroup_index();
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (group == 1) twill::named_arrive(1, 256);
  for (int i = 0; i < count; ++i) {
    twill::named_sync(1 + group, 256);
    if (twill::thread_in_warpgroup() == 0) {
      const int at = *static_cast<volatile int*>(&next);
      log[at] = group;
      *static_cast<volatile int*>(&next) = at + 1;
    }
    twill::named_arrive(2 - group, 256);
  }
  if (group == 0) twill::named_sync(1, 256);
}

void check_turns() {
  std::vector<int> expected(200);
  for (int i = 0; i < 200; ++i) expected[i] = i % 2;
  const check::Buffer<int> log(std::vector<int>(200, -1));
  twill::Launch how;
  how.threads = 256;
  check::run("named barriers", turns, how, 100, log.data());
  check::report(check::same(log.read(), expected, "turns"), "named_sync, named_arrive");
}

// ------------------------------------------------------------------ reduce, ranks, arithmetic

/// Every CTA adds the same 64 x 32 tile of ones times its number + 1.
__global__ void __launch_bounds__(128, 1) add_tiles(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(1024) float tile[64 * 32];
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 32; i += 128) {
    tile[i] = static_cast<float>((blockIdx.x + 1) * (i % 7));
  }
  twill::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    twill::tma_reduce_add(&map, tile, 0, 0);
    twill::bulk_commit();
    twill::bulk_wait_read<0>();
    twill::bulk_wait<0>();
  }
}

void check_reduce() {
  std::vector<float> expected(64 * 32);
  const check::Buffer<float> out(std::vector<float>(64 * 32, 3.0F));
  for (int i = 0; i < 64 * 32; ++i) expected[i] = 3.0F + 36.0F * static_cast<float>(i % 7);
  twill::Launch how;
  how.threads = 128;
  how.grid = dim3(8);
  check::run("tma_reduce_add", add_tiles, how, check::matrix_map(out.data(), 64, 32, 64, 32, 0));
  check::report(check::same(out.read(), expected, "tma_reduce_add"), "tma_reduce_add");
}

/// Copies one box from a tensor to another, through shared memory.
template <class... Coordinates>
__global__ void copy_box(const __grid_constant__ CUtensorMap from,
                         const __grid_constant__ CUtensorMap to, uint32_t bytes,
                         Coordinates... box) {
  __shared__ __align__(1024) char tile[4096];
  __shared__ uint64_t full;
  begin_load(&full, bytes);
  twill::tma_load(tile, &from, &full, box...);
  twill::barrier_wait(&full, 0);
  twill::tma_store(&to, tile, box...);
  twill::bulk_commit();
  twill::bulk_wait<0>();
}

/// Tensors of 16 x 5 x 4 x 3 x 3, of which the first `Rank` dimensions count; a box of 8 x 2 x 3 x
/// 2 x 2 at (8, 4, 1, 1, 1) sticks out by one in dimension 1.
template <class... Coordinates>
bool check_rank(Coordinates... at) {
  constexpr int kRank = sizeof...(at);
  const std::uint64_t all_sizes[5] = {16, 5, 4, 3, 3};
  const std::uint32_t box[5] = {8, 2, 3, 2, 2};
  const int origin[5] = {8, 4, 1, 1, 1};
  std::uint64_t strides[5] = {};
  int size = 1;
  uint32_t bytes = 4;
  for (int i = 0; i < kRank; ++i) {
    size *= static_cast<int>(all_sizes[i]);
    strides[i] = static_cast<std::uint64_t>(size) * 4;
    bytes *= box[i];
  }
  std::vector<float> values(size);
  std::vector<float> expected(size, -1.0F);
  for (int i = 0; i < size; ++i) {
    values[i] = static_cast<float>(i);
    bool inside = true;
    for (int d = 0, rest = i; d < kRank; rest /= static_cast<int>(all_sizes[d]), ++d) {
      const int offset = rest % static_cast<int>(all_sizes[d]) - origin[d];
      inside = inside && offset >= 0 && offset < static_cast<int>(box[d]);
    }
    if (inside) expected[i] = values[i];
  }
  const check::Buffer<float> from(values);
  const check::Buffer<float> to(std::vector<float>(size, -1.0F));
  CUtensorMap maps[2];
  float* const bases[2] = {from.data(), to.data()};
  for (int i = 0; i < 2; ++i) {
    check::require(twill::encode_tensor_map(&maps[i], twill::map_type<float>(), kRank, bases[i],
                                            all_sizes, strides, box, 0),
                   "encode_tensor_map");
  }
  twill::Launch how;
  how.threads = 1;
  check::run("tma ranks", copy_box<Coordinates...>, how, maps[0], maps[1], bytes, at...);
  return check::same(to.read(), expected, "copied box");
}

__global__ void arithmetic(float* out) {
  const float x = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = twill::quad_max(-x);
  out[32 + threadIdx.x] = twill::quad_sum(x);
  out[64 + threadIdx.x] = twill::exp2_approx(x - 16);
  out[96 + threadIdx.x] = twill::log2_approx(exp2f(x - 16));
}

void check_arithmetic() {
  const check::Buffer<float> out(std::vector<float>(128, -1.0F));
  twill::Launch how;
  how.threads = 32;
  check::run("arithmetic", arithmetic, how, out.data());
  const std::vector<float> got = out.read();
  bool good = true;
  for (int i = 0; i < 32; ++i) {
    const float power = std::ldexp(1.0F, i - 16);
    good = good && got[i] == static_cast<float>(-(i / 4 * 4)) &&
           got[32 + i] == static_cast<float>(i / 4 * 16 + 6) &&
           std::fabs(got[64 + i] - power) <= 1e-6F * power &&
           std::fabs(got[96 + i] - static_cast<float>(i - 16)) <= 1e-5F;
  }
  check::report(good, "quad_max, quad_sum, exp2_approx, log2_approx");
}

}  // namespace

int main() {
  if (const char* wrong = twill::check_device()) {
    std::printf("cannot run: %s\n", wrong);
    return 2;
  }
  check_all_products<__half, 128>("fp16");
  check_all_products<__nv_bfloat16, 64>("bf16");
  check_round_trips<__half>("store_fragment fp16, TMA store, clipped");
  check_round_trips<__nv_bfloat16>("store_fragment bf16, TMA store, clipped");
  check_product_of_stored();
  check_reload();
  check_transposing_store();
  check_turns();
  check_ring_gemm<1>("mbarrier ring, producer warp, setmaxnreg, persistent");
  check_ring_gemm<2>("the same with multicast in a cluster of two");
  check_reduce();
  check::report(check_rank(8) & check_rank(8, 4) & check_rank(8, 4, 1) & check_rank(8, 4, 1, 1) &
                    check_rank(8, 4, 1, 1, 1),
                "TMA load and store, ranks 1 to 5");
  check_arithmetic();
  std::printf("%d failed\n", check::failures);
  return check::failures == 0 ? 0 : 1;
}
