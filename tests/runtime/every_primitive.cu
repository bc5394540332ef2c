// Every function of the runtime, every width and type of wgmma, in kernels whose ptxas report
// nvcc_test.py checks. Never run: primitives.cu tests what the functions do.
#include "runtime/barrier.cuh"
#include "runtime/fragment.cuh"
#include "runtime/role.cuh"
#include "runtime/tile.cuh"
#include "runtime/tma.cuh"
#include "runtime/wgmma.cuh"

using twill::Major;

template <int N, class T>
__global__ void __launch_bounds__(128, 1) every_major(float* out) {
  extern __shared__ __align__(1024) char smem[];
  const uint64_t k_operand = twill::operand(smem, 0, 1024, 128);
  const uint64_t mn_operand = twill::operand(smem, 8192, 1024, 128);
  float d[N / 2];
  uint32_t a[8];
  for (int i = 0; i < 8; ++i) a[i] = threadIdx.x + i;
  twill::wgmma_fence();
  twill::wgmma_ss<N, T, Major::k, Major::k>(d, k_operand, twill::advance(k_operand, 32), false);
  twill::wgmma_ss<N, T, Major::k, Major::mn>(d, k_operand, mn_operand, true);
  twill::wgmma_ss<N, T, Major::mn, Major::k>(d, mn_operand, k_operand, true);
  twill::wgmma_ss<N, T, Major::mn, Major::mn>(d, mn_operand, mn_operand, true);
  twill::wgmma_rs<N, T, Major::k>(d, a, 0, k_operand, true);
  twill::wgmma_rs<N, T, Major::mn>(d, a, 4, mn_operand, true);
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  twill::settle(d);
  twill::settle(a);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) out[i * 128 + threadIdx.x] = d[i];
}

#define FOUR_WIDTHS(N, T)                                  \
  template __global__ void every_major<N, T>(float*);      \
  template __global__ void every_major<N + 8, T>(float*);  \
  template __global__ void every_major<N + 16, T>(float*); \
  template __global__ void every_major<N + 24, T>(float*);
#define EVERY_WIDTH(T)                                                            \
  FOUR_WIDTHS(8, T)                                                               \
  FOUR_WIDTHS(40, T)                                                              \
  FOUR_WIDTHS(72, T)                                                              \
  FOUR_WIDTHS(104, T) FOUR_WIDTHS(136, T) FOUR_WIDTHS(168, T) FOUR_WIDTHS(200, T) \
      FOUR_WIDTHS(232, T)
EVERY_WIDTH(__half)
EVERY_WIDTH(__nv_bfloat16)

// Two accumulators in one array, a softmax's arithmetic, and both ways back to shared memory.
__global__ void __launch_bounds__(128, 1) fragments(float* out) {
  extern __shared__ __align__(1024) char smem[];
  const uint64_t b = twill::operand(smem, 8192, 1024, 128);
  float d[128];
  uint32_t a[32];
  twill::wgmma_fence();
  twill::wgmma_ss<128, __half, Major::k, Major::mn, 0>(d, b, b, false);
  twill::wgmma_ss<128, __half, Major::k, Major::mn, 64>(d, b, b, false);
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  twill::settle(d);
  const float top = twill::quad_max(d[0]);
#pragma unroll
  for (int i = 0; i < 64; ++i) d[i] = twill::exp2_approx(d[i] - top);
#pragma unroll
  for (int i = 0; i < 32; ++i) a[i] = twill::pack<__half>(d[2 * i], d[2 * i + 1]);
  out[twill::row_of(threadIdx.x, 1) * 64 + twill::column_of(threadIdx.x, 1)] =
      twill::log2_approx(twill::quad_sum(d[0]));
  __syncthreads();
  twill::store_fragment<128>(smem, a, 0, 8192);
  twill::store_fragment<128, 64>(reinterpret_cast<__nv_bfloat16*>(smem + 16384), d, 0, 8192);
  twill::store_words<128>(smem, d, 0, 8192);
  twill::stmatrix_x4_trans(smem + 32768 + 16 * threadIdx.x, a[0], a[1], a[2], a[3]);
  twill::fence_proxy_async();
  __syncthreads();
  twill::load_fragment<128>(a, smem, 0, 8192);
  __syncthreads();
  twill::stage(smem, a);
  __syncthreads();
  twill::read_staged(smem, a);
  const __half low = twill::unpack<__half>(a[0], 0);
  a[0] = twill::pack_bits(low, twill::unpack<__half>(a[1], 1));
  out[twill::trip_count(0, a[0], 64)] =
      twill::maximum(top, twill::minimum(0.0f, twill::infinity()));
}

template <class... Coordinates>
__device__ void copies(char* smem, const CUtensorMap* map, uint64_t* full, Coordinates... box) {
  twill::tma_load(smem, map, full, box...);
  twill::tma_load_multicast(smem, map, full, uint16_t{3}, box...);
  twill::tma_store(map, smem, box...);
  twill::tma_reduce_add(map, smem, box...);
}

// A ring between a producer warp and a consumer warpgroup, in a cluster, with all other primitives.
__global__ void __launch_bounds__(256, 1)
    roles(const __grid_constant__ CUtensorMap map, int iterations, float* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full[3];
  __shared__ uint64_t empty[3];
  const int warp = twill::warp_index();
  if (warp == 0 && twill::elect_one()) {
    twill::prefetch_map(&map);
    for (int i = 0; i < 3; ++i) {
      twill::barrier_init(&full[i], 1);
      twill::barrier_init(&empty[i], 1);
    }
    twill::barrier_init_fence();
  }
  twill::cluster_arrive();
  twill::cluster_wait();
  twill::Ring<3> ring;
  if (twill::warpgroup_index() == 0) {
    twill::registers_drop<24>();
    if (warp == 0 && twill::elect_one()) {
#pragma unroll 1
      for (int i = 0; i < iterations; ++i, ring.advance()) {
        twill::barrier_wait(&empty[ring.slot], ring.phase ^ 1);
        twill::barrier_expect(&full[ring.slot], 8192 * 10);
        copies(smem, &map, &full[ring.slot], 1);
        copies(smem, &map, &full[ring.slot], 1, 2);
        copies(smem, &map, &full[ring.slot], 1, 2, 3);
        copies(smem, &map, &full[ring.slot], 1, 2, 3, 4);
        copies(smem, &map, &full[ring.slot], 1, 2, 3, 4, 5);
        twill::bulk_commit();
        twill::bulk_wait_read<1>();
      }
      twill::bulk_wait<0>();
    }
  } else {
    twill::registers_raise<240>();
    ring.advance(static_cast<unsigned>(iterations));
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < iterations; ++i, ring.advance()) {
      const auto next = ring.at<1>();
      if (!twill::barrier_test(&full[ring.slot], ring.phase)) {
        twill::barrier_wait(&full[ring.slot], ring.phase);
      }
      sum += reinterpret_cast<float*>(smem)[twill::thread_in_warpgroup() + next.slot];
      twill::named_sync(1, 128);
      if (twill::thread_in_warpgroup() == 0) {
        twill::barrier_arrive(&empty[ring.slot]);
        twill::barrier_arrive_remote(&empty[ring.slot], twill::cluster_rank() ^ 1);
      }
    }
    twill::named_arrive(2, 128);
    out[twill::thread_in_warpgroup()] = sum;
  }
}
