// clang-format off: each finding is expected at its line

// Small kernels, right and wrong, for the executor of printed kernels (runtime/host): executor_test.py builds and runs this.
// A comment `// finds: KIND` says that the executor must find KIND at that line, `// may find: KIND` that it does so for some orders
// of the threads; anything else that it says is wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "run.h"

#include "runtime/barrier.cuh"
#include "runtime/copy.cuh"
#include "runtime/role.cuh"
#include "runtime/tile.cuh"
#include "runtime/tma.cuh"
#include "runtime/wgmma.cuh"

#include "runtime/host.cuh"

// Kernels are outside of namespaces, as printed kernels are: their shared memory is one array of the program.
static int wrong_numbers = 0;

#define EXPECT(condition)                                                     \
  if (!(condition)) {                                                         \
    static bool said = false;                                                 \
    ++wrong_numbers;                                                          \
    if (!said) std::printf("wrong, line %d: %s\n", __LINE__, #condition);     \
    said = true;                                                              \
  }

struct Arguments {
  CUtensorMap map, other;
  float* numbers;
  int count;
};

template <class T>
static T* array(int count, const char* name, bool initialised = true) {
  T* at = static_cast<T*>(twill::run::allocate(sizeof(T) * count));
  twill::run::add_buffer(at, sizeof(T) * count, name, initialised);
  return at;
}

static void launch(void (*kernel)(Arguments), const Arguments& args, int threads, int grid = 1, int cluster = 1,
            int shared = 65536) {
  twill::Launch how;
  how.grid = dim3(static_cast<unsigned>(grid));
  how.threads = threads;
  how.cluster = cluster;
  how.shared_bytes = shared;
  if (const char* wrong = twill::launch(kernel, how, args)) std::printf("launch: %s\n", wrong);
}

/// Rows of 64 fp16 numbers as boxes of `box` rows, swizzled by 128 bytes; element (r, c) is r + c / 64.
static CUtensorMap rows_of_64(__half* at, int rows, int box, int columns = 64) {
  CUtensorMap map;
  const std::uint64_t sizes[] = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
  const std::uint64_t strides[] = {128};
  const std::uint32_t boxes[] = {64, static_cast<std::uint32_t>(box)};
  const char* wrong = twill::encode_tensor_map(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, at, sizes, strides, boxes, 128);
  EXPECT(wrong == nullptr);
  return map;
}

static Arguments a_tile(int rows = 64, int box = 64) {
  Arguments args = {};
  __half* at = array<__half>(rows * 64, "tile");
  for (int i = 0; i < rows * 64; ++i) at[i] = __float2half_rn(static_cast<float>(i / 64) + static_cast<float>(i % 64) / 64);
  args.map = rows_of_64(at, rows, box);
  args.numbers = array<float>(128 * 64, "numbers", false);
  return args;
}

#define SHARED extern __shared__ __align__(1024) char smem[]
#define BARRIERS(count)                                                  \
  SHARED;                                                                \
  uint64_t* bars = reinterpret_cast<uint64_t*>(smem + 60000);            \
  if (threadIdx.x == 0) {                                                \
    for (int i = 0; i < count; ++i) twill::barrier_init(bars + i, 1);    \
    twill::barrier_init_fence();                                         \
  }                                                                      \
  __syncthreads()

// --- Threads and shared memory

static __global__ void unwritten(Arguments args) {
  SHARED;
  args.numbers[threadIdx.x] = reinterpret_cast<float*>(smem)[threadIdx.x];  // finds: uninitialised
}

static __global__ void unsynchronized(Arguments args) {
  SHARED;
  float* x = reinterpret_cast<float*>(smem);
  x[threadIdx.x] = 1;
  args.numbers[threadIdx.x] = x[threadIdx.x ^ 32];  // finds: race; may find: uninitialised
}

static __global__ void synchronized(Arguments args) {
  SHARED;
  float* x = reinterpret_cast<float*>(smem);
  x[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  const float other = x[threadIdx.x ^ 32];
  twill::named_sync(3, 128);
  x[threadIdx.x] = other;
  __syncwarp();
  args.numbers[threadIdx.x] = x[threadIdx.x ^ 1];
}

static __global__ void overwritten(Arguments args) {
  SHARED;
  float* x = reinterpret_cast<float*>(smem);
  x[threadIdx.x] = 1;
  __syncthreads();
  args.numbers[threadIdx.x] = x[threadIdx.x ^ 32];  // may find: race
  x[threadIdx.x] = 2;                               // finds: race
}

static __global__ void one_way(Arguments args) {
  BARRIERS(1);
  float* x = reinterpret_cast<float*>(smem);
  if (threadIdx.x == 0) {
    x[0] = 5;
    twill::barrier_arrive(bars);
  } else if (threadIdx.x >= 32) {
    twill::barrier_wait(bars, 0);
    args.numbers[threadIdx.x] = x[0];
  }
}

static __global__ void for_a_warp(Arguments args) {
  BARRIERS(1);
  float* x = reinterpret_cast<float*>(smem);
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 5;
    __syncwarp();
    if (twill::elect_one()) twill::barrier_arrive(bars);
  } else if (threadIdx.x < 64) {
    twill::barrier_wait(bars, 0);
    args.numbers[threadIdx.x] = x[threadIdx.x - 32];
  }
}

static __global__ void not_for_a_warp(Arguments args) {
  BARRIERS(1);
  float* x = reinterpret_cast<float*>(smem);
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 5;
    if (twill::elect_one()) twill::barrier_arrive(bars);
  } else if (threadIdx.x < 64) {
    twill::barrier_wait(bars, 0);
    args.numbers[threadIdx.x] = x[threadIdx.x - 32];  // finds: race
  }
}

// --- mbarriers

static __global__ void arrived_twice(Arguments) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 64);
    twill::barrier_arrive(bars);  // finds: barrier
  }
}

static __global__ void never_arrived(Arguments) {
  BARRIERS(1);
  if (threadIdx.x == 32) twill::barrier_wait(bars, 0);  // finds: deadlock
}

static __global__ void wrong_parity(Arguments) {
  BARRIERS(1);
  if (threadIdx.x == 0) twill::barrier_arrive(bars);
  __syncthreads();
  if (threadIdx.x == 32) twill::barrier_wait(bars, 1);  // finds: overrun, deadlock
}

static __global__ void no_barrier(Arguments) {
  SHARED;
  if (threadIdx.x == 0) twill::barrier_arrive(reinterpret_cast<uint64_t*>(smem));  // finds: barrier
}

static __global__ void not_announced(Arguments args) {
  SHARED;
  uint64_t* bar = reinterpret_cast<uint64_t*>(smem + 60000);
  if (threadIdx.x == 0) twill::barrier_init(bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    twill::barrier_expect(bar, 8192);
    twill::tma_load(smem, &args.map, bar, 0, 0);  // finds: barrier
    twill::barrier_wait(bar, 0);
  }
}

static __global__ void named_counts(Arguments) {
  if (threadIdx.x < 64) {
    twill::named_sync(2, 64);
  } else if (threadIdx.x < 96) {
    twill::named_sync(3, 64);  // finds: deadlock
  } else {
    twill::named_arrive(4, 64);
  }
}

static __global__ void two_phases(Arguments args) {
  BARRIERS(2);  // full and empty
  float* x = reinterpret_cast<float*>(smem);
  twill::Ring<1> ring;
  for (int i = 0; i < 5; ++i, ring.advance<1>()) {
    if (threadIdx.x == 0) {
      twill::barrier_wait(bars + 1, ring.phase ^ 1U);
      x[0] = static_cast<float>(i);
      twill::barrier_arrive(bars);
    } else if (threadIdx.x >= 32 && threadIdx.x < 64) {
      twill::barrier_wait(bars, ring.phase);
      args.numbers[i * 32 + threadIdx.x] = x[0];
      __syncwarp();
      if (twill::elect_one()) twill::barrier_arrive(bars + 1);
    }
  }
}

// --- TMA

static __global__ void load_and_read(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, 0, 0);
  }
  twill::barrier_wait(bars, 0);
  for (int c = 0; c < 64; ++c) {
    const int r = static_cast<int>(threadIdx.x) % 64;
    args.numbers[threadIdx.x * 64 + c] =
        __half2float(*reinterpret_cast<__half*>(smem + twill::swizzled<128>(r, 2 * c)));
  }
}

static __global__ void load_without_wait(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, 0, 0);
  }
  __syncthreads();
  args.numbers[threadIdx.x] = reinterpret_cast<float*>(smem)[threadIdx.x];  // finds: race
  twill::barrier_wait(bars, 0);
}

static __global__ void too_few_bytes(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 4096);
    twill::tma_load(smem, &args.map, bars, 0, 0);  // finds: barrier
    twill::barrier_wait(bars, 0);
  }
}

static __global__ void too_few_for_both(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, 0, 0);         // may find: barrier
    twill::tma_load(smem + 8192, &args.map, bars, 0, 0);  // may find: barrier
    twill::barrier_wait(bars, 0);
    twill::barrier_wait(bars, 0);
  }
}

static __global__ void too_many_bytes(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8193);
    twill::tma_load(smem, &args.map, bars, 0, 0);
    twill::barrier_wait(bars, 0);  // finds: deadlock
  }
}

static __global__ void load_over_readers(Arguments args) {
  BARRIERS(2);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, 0, 0);
  }
  twill::barrier_wait(bars, 0);
  args.numbers[threadIdx.x] = reinterpret_cast<float*>(smem)[threadIdx.x];  // may find: race
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars + 1, 8192);
    twill::tma_load(smem, &args.map, bars + 1, 0, 0);  // finds: race
    twill::barrier_wait(bars + 1, 0);
  }
}

static __global__ void store_a_tile(Arguments args) {
  SHARED;
  uint32_t pairs[16];
  for (int i = 0; i < 16; ++i) pairs[i] = twill::pack<__half>(1.0F, 2.0F);
  twill::store_fragment<64>(smem, pairs, 0, 8192);
  twill::fence_proxy_async();
  twill::named_sync(1, 128);
  if (threadIdx.x == 0) {
    twill::tma_store(&args.map, smem, 0, 0);
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

static __global__ void store_without_fence(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  twill::store_fragment<64>(smem, pairs, 0, 8192);
  twill::named_sync(1, 128);
  if (threadIdx.x == 0) {
    twill::tma_store(&args.map, smem, 0, 0);  // finds: proxy
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

static __global__ void store_without_barrier(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  twill::store_fragment<64>(smem, pairs, 0, 8192);
  twill::fence_proxy_async();
  if (threadIdx.x == 0) {
    twill::tma_store(&args.map, smem, 0, 0);  // finds: race; may find: uninitialised
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

static __global__ void staging_again(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  for (int i = 0; i < 2; ++i) {
    twill::store_fragment<64>(smem, pairs, 0, 8192);  // finds: race
    twill::fence_proxy_async();
    twill::named_sync(1, 128);
    if (threadIdx.x == 0) {
      twill::tma_store(&args.map, smem, 0, 0);
      twill::bulk_commit();
    }
    twill::named_sync(1, 128);  // and no bulk_wait_read before it
  }
  if (threadIdx.x == 0) twill::bulk_wait<0>();
}

static __global__ void staging_after_reading(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) twill::bulk_wait_read<0>();
    twill::named_sync(1, 128);
    twill::store_fragment<64>(smem, pairs, 0, 8192);
    twill::fence_proxy_async();
    twill::named_sync(1, 128);
    if (threadIdx.x == 0) {
      twill::tma_store(&args.map, smem, 0, 0);
      twill::bulk_commit();
    }
  }
  if (threadIdx.x == 0) twill::bulk_wait<0>();
}

static __global__ void no_commit(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  twill::store_fragment<64>(smem, pairs, 0, 8192);
  twill::fence_proxy_async();
  twill::named_sync(1, 128);
  if (threadIdx.x == 0) {
    twill::tma_store(&args.map, smem, 0, 0);  // finds: copy
    twill::bulk_wait<0>();
  }
}

static __global__ void exit_early(Arguments args) {
  SHARED;
  uint32_t pairs[16] = {};
  twill::store_fragment<64>(smem, pairs, 0, 8192);
  twill::fence_proxy_async();
  twill::named_sync(1, 128);
  if (threadIdx.x == 0) {
    twill::tma_store(&args.map, smem, 0, 0);  // finds: copy
    twill::bulk_commit();
  }
}

static __global__ void unencoded(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) twill::tma_load(smem, &args.other, bars, 0, 0);  // finds: copy
}

static __global__ void unaligned_box(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem + 64, &args.map, bars, 0, 0);  // finds: misaligned
    twill::barrier_wait(bars, 0);
  }
}

static __global__ void loaded_before_a_row(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, -4, -3);  // finds: copy
    twill::barrier_wait(bars, 0);
  }
}

static __global__ void stored_before_a_tensor(Arguments args) {
  SHARED;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 64 * 64; ++i) reinterpret_cast<__half*>(smem)[i] = __float2half_rn(1);
    twill::fence_proxy_async();
    twill::tma_store(&args.map, smem, 0, -1);  // finds: copy
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

// --- Copies by threads

static __global__ void copies(Arguments args) {
  SHARED;
  uint64_t* bar = reinterpret_cast<uint64_t*>(smem + 60000);
  if (threadIdx.x == 0) twill::barrier_init(bar, 128);
  __syncthreads();
  twill::copy_async<16>(smem + 16 * threadIdx.x, args.numbers + 4 * threadIdx.x, threadIdx.x < 100);
  twill::copies_arrive(bar);
  twill::barrier_wait(bar, 0);
  args.numbers[1024 + threadIdx.x] = *reinterpret_cast<float*>(smem + 16 * (threadIdx.x ^ 64));
}

static __global__ void copies_told_later(Arguments args) {  // the second barrier tells of the first copies, too
  SHARED;
  uint64_t* bars = reinterpret_cast<uint64_t*>(smem + 60000);
  if (threadIdx.x < 2) twill::barrier_init(bars + threadIdx.x, 64);
  __syncthreads();
  if (threadIdx.x < 64) {
    for (int i = 0; i < 2; ++i) {
      twill::copy_async<16>(smem + 1024 * i + 16 * threadIdx.x, args.numbers + 256 * i + 4 * threadIdx.x);
      twill::copies_arrive(bars + i);
    }
  } else {
    twill::barrier_wait(bars + 1, 0);
    args.numbers[1024 + threadIdx.x] = *reinterpret_cast<float*>(smem + 16 * (threadIdx.x - 64));
  }
}

static __global__ void copies_too_early(Arguments args) {
  SHARED;
  uint64_t* bar = reinterpret_cast<uint64_t*>(smem + 60000);
  if (threadIdx.x == 0) twill::barrier_init(bar, 128);
  __syncthreads();
  twill::copy_async<16>(smem + 16 * threadIdx.x, args.numbers + 4 * threadIdx.x);
  twill::copies_arrive(bar);
  args.numbers[1024 + threadIdx.x] = *reinterpret_cast<float*>(smem + 16 * threadIdx.x);  // finds: race
  twill::barrier_wait(bar, 0);
}

static __global__ void copies_of_nobody(Arguments args) {
  SHARED;
  twill::copy_async<16>(smem + 16 * threadIdx.x, args.numbers + 4 * threadIdx.x);  // finds: copy
}

static __global__ void copies_to_wgmma(Arguments args) {
  SHARED;
  uint64_t* bar = reinterpret_cast<uint64_t*>(smem + 60000);
  if (threadIdx.x == 0) twill::barrier_init(bar, 128);
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    twill::copy_async<16>(smem + 16 * (threadIdx.x + 128 * i), args.numbers + 4 * threadIdx.x);
  }
  twill::copies_arrive(bar);
  twill::barrier_wait(bar, 0);
  float d[8];
  if (args.count == 1) twill::fence_proxy_async();
  twill::wgmma_fence();
  const uint64_t tile = twill::operand(smem, 0, 1024, 128);
  twill::wgmma_ss<16, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);  // finds: proxy
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  args.numbers[2048 + threadIdx.x] = d[0];
}

// --- Products

#define TILES(bytes)                                                          \
  BARRIERS(1);                                                                \
  if (threadIdx.x == 0) {                                                     \
    twill::barrier_expect(bars, 8192);                                        \
    twill::tma_load(smem, &args.map, bars, 0, 0);                             \
  }                                                                           \
  const uint64_t tile = twill::operand(smem, 0, 1024, 128)

static __global__ void product(Arguments args) {
  TILES(8192);
  float d[32];
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  for (int k = 0; k < 4; ++k) {
    twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, twill::advance(tile, 32 * k),
                                                                  twill::advance(tile, 32 * k), k > 0);
  }
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 32; ++i) args.numbers[twill::row_of(t, i) * 64 + twill::column_of(t, i)] = d[i];
}

static __global__ void product_across(Arguments args) {  // A in registers: ones; B[k][n] = tile[k][n], n contiguous
  TILES(8192);
  float d[32];
  uint32_t ones[16];
  for (int i = 0; i < 16; ++i) ones[i] = twill::pack<__half>(1.0F, 1.0F);
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  const uint64_t across = twill::operand(smem, 8192, 1024, 128);
  for (int k = 0; k < 4; ++k) {
    twill::wgmma_rs<64, __half, twill::Major::mn>(d, ones, 4 * k, twill::advance(across, 2048 * k), k > 0);
  }
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 32; ++i) args.numbers[twill::row_of(t, i) * 64 + twill::column_of(t, i)] = d[i];
}

static __global__ void product_before_load(Arguments args) {
  TILES(8192);
  float d[32];
  twill::wgmma_fence();
  twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);  // finds: race; may find: uninitialised
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  twill::barrier_wait(bars, 0);
  args.numbers[threadIdx.x] = d[0];
}

static __global__ void result_too_early(Arguments args) {
  TILES(8192);
  float d[32];
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);
  twill::wgmma_commit();
  args.numbers[threadIdx.x] = d[3];  // finds: registers
  twill::wgmma_wait<0>();
}

static __global__ void result_without_commit(Arguments args) {
  TILES(8192);
  float d[32];
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);  // finds: registers
  twill::wgmma_wait<0>();
  args.numbers[threadIdx.x] = d[3];  // finds: registers
}

static __global__ void result_never_waited_for(Arguments args) {
  TILES(8192);
  float d[32];
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);  // finds: registers
  twill::wgmma_commit();
}

static __global__ void operand_overwritten(Arguments args) {
  TILES(8192);
  float d[32];
  uint32_t ones[4];
  for (int i = 0; i < 4; ++i) ones[i] = 0x3c003c00;
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  twill::wgmma_rs<64, __half, twill::Major::k>(d, ones, 0, tile, false);
  twill::wgmma_commit();
  ones[args.count] = 0;  // finds: registers
  twill::wgmma_wait<0>();
  args.numbers[threadIdx.x] = d[3];
}

static __global__ void no_fence(Arguments args) {
  TILES(8192);
  float d[32];
  twill::barrier_wait(bars, 0);
  twill::wgmma_fence();
  for (int i = 0; i < 2; ++i) {
    twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, i > 0);  // finds: fence
    twill::wgmma_commit();
    twill::wgmma_wait<0>();
    args.numbers[threadIdx.x] = d[3];
  }
}

static __global__ void slot_still_read(Arguments args) {  // released before the product is done
  BARRIERS(3);
  if (threadIdx.x < 128) {
    float d[32];
    const uint64_t tile = twill::operand(smem, 0, 1024, 128);
    twill::barrier_wait(bars, 0);
    twill::wgmma_fence();
    twill::wgmma_ss<64, __half, twill::Major::k, twill::Major::k>(d, tile, tile, false);  // may find: race
    twill::wgmma_commit();
    if (args.count == 1) twill::wgmma_wait<0>();
    if (threadIdx.x == 0) twill::barrier_arrive(bars + 1);
    twill::wgmma_wait<0>();
    args.numbers[threadIdx.x] = d[0];
  } else if (threadIdx.x == 128) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load(smem, &args.map, bars, 0, 0);
    twill::barrier_wait(bars + 1, 0);
    twill::barrier_expect(bars + 2, 8192);
    twill::tma_load(smem, &args.map, bars + 2, 0, 0);  // may find: race
    twill::barrier_wait(bars + 2, 0);
  }
}

// --- Bounds, registers, warps, clusters

static __global__ void beyond_shared(Arguments) {
  SHARED;
  smem[65536 + threadIdx.x] = 1;  // finds: out-of-bounds
}

static __global__ void beyond_global(Arguments args) {
  args.numbers[128 * 64 + threadIdx.x] = 1;  // finds: out-of-bounds
}

static __global__ void unwritten_global(Arguments args) {
  const float x = args.numbers[threadIdx.x];  // finds: uninitialised
  args.numbers[threadIdx.x] = x + 1;
}

static __global__ void both_write(Arguments args) {
  args.numbers[threadIdx.x] = static_cast<float>(blockIdx.x);  // finds: race
}

static __global__ void both_write_the_same(Arguments args) { args.numbers[threadIdx.x] = 1; }

static __global__ void both_add(Arguments args) { atomicAdd(args.numbers + threadIdx.x, 1.0F); }

static __global__ void too_many_registers(Arguments) {
  twill::registers_raise<248>();  // finds: deadlock
}

static __global__ void traded_registers(Arguments) {
  if (threadIdx.x < 128) {
    twill::registers_drop<24>();
  } else {
    twill::registers_raise<240>();
  }
}

static __global__ void raised_to_less(Arguments) {
  twill::registers_raise<160>();  // finds: registers
}

static __global__ void diverged(Arguments args) {
  if (threadIdx.x % 2 == 0) {
    args.numbers[threadIdx.x] = __shfl_xor_sync(0xffffffffU, 1.0F, 2);  // may find: diverged
  } else {
    __syncwarp();  // may find: diverged
  }
}

static __global__ void shuffled(Arguments args) {
  const float x = static_cast<float>(threadIdx.x);
  args.numbers[threadIdx.x] = twill::quad_sum(x) + 1000 * __shfl_sync(0xffffffffU, x, 5);
}

static __global__ void multicast(Arguments args) {  // each CTA loads half of the rows, for both
  BARRIERS(1);
  const int rank = static_cast<int>(twill::cluster_rank());
  twill::cluster_arrive();
  twill::cluster_wait();
  if (threadIdx.x == 0) {
    twill::barrier_expect(bars, 8192);
    twill::tma_load_multicast(smem + rank * 4096, &args.map, bars, 3, 0, rank * 32);
  }
  twill::barrier_wait(bars, 0);
  for (int i = static_cast<int>(threadIdx.x); i < 2048; i += 128) {
    args.numbers[rank * 2048 + i] = reinterpret_cast<float*>(smem)[i];
  }
  twill::cluster_arrive();
  twill::cluster_wait();
}

static __global__ void gone(Arguments) {
  BARRIERS(1);
  const uint32_t rank = twill::cluster_rank();
  twill::cluster_arrive();
  twill::cluster_wait();
  if (rank == 1) return;
  for (int i = 0; i < 400; ++i) __syncthreads();
  if (threadIdx.x == 32) twill::barrier_arrive_remote(bars, 1);  // finds: barrier
}

/// Boxes of `map` to boxes of `other`, with the bytes between untouched; one thread.
static __global__ void through_shared(Arguments args) {
  BARRIERS(1);
  if (threadIdx.x != 0) return;
  const int bytes = args.count;
  twill::barrier_expect(bars, static_cast<uint32_t>(bytes));
  twill::tma_load(smem, &args.map, bars, -8, -1, 1);
  twill::barrier_wait(bars, 0);
  twill::tma_store(&args.other, smem, 0, 0, 1);
  twill::bulk_commit();
  twill::bulk_wait<0>();
}

static __global__ void reduced(Arguments args) {
  SHARED;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 32; ++i) reinterpret_cast<float*>(smem)[i] = static_cast<float>(i);
    twill::fence_proxy_async();
    twill::tma_reduce_add(&args.map, smem, 0);
    twill::bulk_commit();
    twill::bulk_wait<0>();
  }
}

// --- The host's side

static void in_three_dimensions(int swizzle) {
  constexpr int kX = 20, kY = 5, kZ = 3;  // rows of 24
  __half* from = array<__half>(24 * kY * kZ, "from");
  __half* to = array<__half>(24 * kY * kZ, "to");
  for (int i = 0; i < 24 * kY * kZ; ++i) {
    from[i] = __float2half_rn(static_cast<float>(i));
    to[i] = __float2half_rn(-1);
  }
  Arguments args = {};
  const std::uint64_t sizes[] = {kX, kY, kZ}, strides[] = {48, 48 * kY};
  const std::uint32_t box[] = {static_cast<std::uint32_t>(swizzle == 32 ? 16 : 32), 4, 2};
  EXPECT(twill::encode_tensor_map(&args.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, from, sizes, strides, box, swizzle) == nullptr);
  EXPECT(twill::encode_tensor_map(&args.other, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, to, sizes, strides, box, swizzle) == nullptr);
  args.count = static_cast<int>(box[0]) * 16;
  launch(through_shared, args, 32);
  for (int i = 0; i < 24 * kY * kZ; ++i) {
    const int x = i % 24, y = i / 24 % kY, z = i / 24 / kY;
    const bool written = x < kX && x < static_cast<int>(box[0]) && y < 4 && z >= 1;
    const bool inside = x >= 8 && y >= 1;
    EXPECT(__half2float(to[i]) == (!written ? -1 : inside ? static_cast<float>(i - 24 - 8) : 0));
  }
}

struct Case {
  const char* name;
  void (*run)();
};

#define PLAIN(kernel, threads) {#kernel, [] { launch(kernel, a_tile(), threads); }}

static const Case kCases[] = {
    PLAIN(unwritten, 128), PLAIN(unsynchronized, 128), PLAIN(synchronized, 128), PLAIN(overwritten, 128),
    PLAIN(one_way, 128), PLAIN(for_a_warp, 128), PLAIN(not_for_a_warp, 128), PLAIN(arrived_twice, 128),
    PLAIN(never_arrived, 128), PLAIN(wrong_parity, 128), PLAIN(no_barrier, 128), PLAIN(not_announced, 128),
    PLAIN(named_counts, 128), PLAIN(two_phases, 128), PLAIN(load_without_wait, 128), PLAIN(too_few_bytes, 128), PLAIN(too_few_for_both, 128),
    PLAIN(too_many_bytes, 128), PLAIN(load_over_readers, 128), PLAIN(store_without_fence, 128),
    PLAIN(store_without_barrier, 128), PLAIN(staging_again, 128), PLAIN(staging_after_reading, 128),
    PLAIN(no_commit, 128), PLAIN(exit_early, 128), PLAIN(unencoded, 128), PLAIN(unaligned_box, 128), PLAIN(loaded_before_a_row, 128),
    PLAIN(stored_before_a_tensor, 128),
    PLAIN(product_before_load, 128), PLAIN(result_too_early, 128), PLAIN(result_never_waited_for, 128), PLAIN(result_without_commit, 128),
    PLAIN(operand_overwritten, 128), PLAIN(no_fence, 128), PLAIN(beyond_shared, 128), PLAIN(beyond_global, 128),
    PLAIN(unwritten_global, 128), PLAIN(too_many_registers, 384), PLAIN(traded_registers, 384), PLAIN(raised_to_less, 384), PLAIN(diverged, 128),
    {"both_write", [] { launch(both_write, a_tile(), 128, 2); }},
    {"both_write_the_same", [] { launch(both_write_the_same, a_tile(), 128, 2); }},
    {"both_add",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 512, true);
       for (int i = 0; i < 128; ++i) args.numbers[i] = 1;
       launch(both_add, args, 128, 2);
       for (int i = 0; i < 128; ++i) EXPECT(args.numbers[i] == 3);
     }},
    {"slot_still_read", [] { launch(slot_still_read, a_tile(), 256); }},
    {"slot_done",
     [] {
       Arguments args = a_tile();
       args.count = 1;
       launch(slot_still_read, args, 256);
     }},
    {"load_and_read",
     [] {
       Arguments args = a_tile(60);  // the last four rows of the box lie outside
       launch(load_and_read, args, 128);
       for (int i = 0; i < 4096; ++i) {
         const float value = static_cast<float>(i / 64) + static_cast<float>(i % 64) / 64;
         EXPECT(args.numbers[i] == (i / 64 < 60 ? __half2float(__float2half_rn(value)) : 0));
       }
     }},
    {"store_a_tile",
     [] {
       Arguments args = a_tile();
       __half* out = array<__half>(60 * 64, "out", false);
       args.map = rows_of_64(out, 60, 64, 48);
       launch(store_a_tile, args, 128);
       for (int i = 0; i < 60 * 64; ++i) {
         if (i % 64 < 48) EXPECT(__half2float(out[i]) == (i % 2 == 0 ? 1.0F : 2.0F));
         if (i % 64 >= 48) EXPECT(out[i].bits == 0xffff);
       }
     }},
    {"copies",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 2048, true);
       for (int i = 0; i < 512; ++i) args.numbers[i] = static_cast<float>(i);
       launch(copies, args, 128);
       for (int i = 0; i < 128; ++i) EXPECT(args.numbers[1024 + i] == ((i ^ 64) < 100 ? 4.0F * static_cast<float>(i ^ 64) : 0));
     }},
    {"copies_told_later",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 2048, true);
       for (int i = 0; i < 512; ++i) args.numbers[i] = static_cast<float>(i);
       launch(copies_told_later, args, 128);
       for (int i = 64; i < 128; ++i) EXPECT(args.numbers[1024 + i] == static_cast<float>(4 * (i - 64)));
     }},
    {"copies_too_early",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 2048, true);
       launch(copies_too_early, args, 128);
     }},
    {"copies_of_nobody",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 2048, true);
       launch(copies_of_nobody, args, 128);
     }},
    {"copies_to_wgmma_unfenced",
     [] {
       Arguments args = a_tile();
       twill::run::set_initialised(args.numbers, 2048, true);
       launch(copies_to_wgmma, args, 128);
     }},
    {"copies_to_wgmma",
     [] {
       Arguments args = a_tile();
       args.count = 1;
       twill::run::set_initialised(args.numbers, 2048, true);
       launch(copies_to_wgmma, args, 128);
     }},
    {"product",
     [] {
       Arguments args = a_tile();
       launch(product, args, 128);
       for (int r = 0; r < 64; ++r) {
         for (int c = 0; c < 64; ++c) {
           float sum = 0;
           for (int k = 0; k < 64; ++k) {
             const float part = static_cast<float>(k) / 64;
             sum += __half2float(__float2half_rn(static_cast<float>(r) + part)) * __half2float(__float2half_rn(static_cast<float>(c) + part));
           }
           EXPECT(args.numbers[r * 64 + c] == sum);
         }
       }
     }},
    {"product_across",
     [] {
       Arguments args = a_tile();
       launch(product_across, args, 128);
       for (int i = 0; i < 4096; ++i) {
         float sum = 0;
         for (int k = 0; k < 64; ++k) sum += __half2float(__float2half_rn(static_cast<float>(k) + static_cast<float>(i % 64) / 64));
         EXPECT(args.numbers[i] == sum);
       }
     }},
    {"shuffled",
     [] {
       Arguments args = a_tile();
       launch(shuffled, args, 64);
       for (int i = 0; i < 64; ++i) EXPECT(args.numbers[i] == static_cast<float>(i / 4 * 16 + 6 + 1000 * (i / 32 * 32 + 5)));
     }},
    {"multicast",
     [] {
       Arguments args = a_tile(64, 32);
       launch(multicast, args, 128, 2, 2);
       EXPECT(std::memcmp(args.numbers, args.numbers + 2048, 8192) == 0);
     }},
    {"gone", [] { launch(gone, a_tile(), 64, 2, 2); }},
    {"in_three_dimensions",
     [] {
       for (const int swizzle : {0, 32, 64, 128}) in_three_dimensions(swizzle);
     }},
    {"reduced",
     [] {
       Arguments args = {};
       float* sums = array<float>(20, "sums");
       for (int i = 0; i < 20; ++i) sums[i] = 1;
       const std::uint64_t sizes[] = {20};
       const std::uint32_t box[] = {32};
       EXPECT(twill::encode_tensor_map(&args.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, sums, sizes, nullptr, box, 0) == nullptr);
       launch(reduced, args, 32);
       for (int i = 0; i < 20; ++i) EXPECT(sums[i] == 1 + static_cast<float>(i));
     }},
};


int main(int argc, char** argv) {
  twill::run::Options options;
  options.seed = static_cast<std::uint64_t>(std::atoi(argv[1]));
  options.completion = std::atoi(argv[2]) != 0 ? twill::run::Completion::random : twill::run::Completion::late;
  options.most_findings = 64;
  options.switch_at_memory = std::atoi(argv[3]) != 0;
  for (const Case& it : kCases) {
    if (argc > 4 && std::strcmp(argv[4], it.name) != 0) continue;
    twill::run::configure(options);
    std::printf("case %s\n", it.name);
    it.run();
    twill::run::finish(stdout);
  }
  return wrong_numbers != 0;
}
