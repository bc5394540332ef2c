#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

/// The runtime of emitted kernels (runtime/*.cuh) on the host: a thread for each thread of a CTA,
/// one CTA after the other. mbarriers count, copies by threads land when their barrier is told,
/// wgmma reads shared memory by its descriptors. So an emitted kernel computes here what it
/// computes on a GPU, but for what only hardware can do wrong: proxies, and asynchronous work that
/// is read early. Of the copy engine there is nothing: kernels whose tiles threads copy.

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#define __CUDACC_RTC__ 1

using std::max;
using std::min;
using std::uint32_t;
using std::uint64_t;

struct Dim {
  unsigned x = 0, y = 0, z = 0;
};
inline thread_local Dim threadIdx;
inline Dim blockIdx, gridDim;

struct __half {
  _Float16 value = 0;
  __half() = default;
  explicit __half(float x) : value(static_cast<_Float16>(x)) {}
  operator float() const { return static_cast<float>(value); }
};
inline __half __float2half_rn(float x) { return __half(x); }
inline float __half2float(__half x) { return x; }
inline float __fdividef(float a, float b) { return a / b; }

alignas(1024) char smem[232448];  // of the CTA that runs

namespace host {

constexpr int kWarp = 32, kWarpgroup = 128;

/// Where the threads of a CTA meet.
struct Cta {
  explicit Cta(int threads) : all(threads) {
    for (int g = 0; g < threads / kWarpgroup; ++g) {
      groups.push_back(std::make_unique<std::barrier<>>(kWarpgroup));
    }
    for (int w = 0; w < threads / kWarp; ++w) {
      warps.push_back(std::make_unique<std::barrier<>>(kWarp));
    }
    lanes.resize(static_cast<std::size_t>(threads));
    operands.resize(static_cast<std::size_t>(threads));
  }
  std::barrier<> all;
  std::vector<std::unique_ptr<std::barrier<>>> groups, warps;
  std::vector<float> lanes;                       // what a lane shows to its warp
  std::vector<std::array<uint32_t, 4>> operands;  // and its registers of A to its warpgroup
  std::mutex guard;
  std::unordered_map<int, std::unique_ptr<std::barrier<>>> named;
  struct Mbarrier {
    std::int64_t count = 0, pending = 0;
    unsigned phase = 0;
  };
  std::unordered_map<uint64_t*, Mbarrier> barriers;
};
inline Cta* cta = nullptr;

struct Copy {
  void* to;
  const void* from;
  int bytes;
  bool inside;
};
inline thread_local std::vector<Copy> copies;

inline int index() { return static_cast<int>(threadIdx.x); }
inline void meet_warpgroup() {
  cta->groups[static_cast<std::size_t>(index() / kWarpgroup)]->arrive_and_wait();
}
inline void meet_warp() {
  cta->warps[static_cast<std::size_t>(index() / kWarp)]->arrive_and_wait();
}

/// Runs `kernel` for every CTA of the grid, with `threads` threads each.
inline void run(Dim grid, int threads, const std::function<void()>& kernel) {
  gridDim = grid;
  for (unsigned i = 0; i < grid.x * grid.y * grid.z; ++i) {
    blockIdx = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
    std::memset(smem, 0xff, sizeof smem);  // NaNs, for who reads what nobody wrote
    Cta one(threads);
    cta = &one;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&kernel, t] {
        threadIdx = {static_cast<unsigned>(t), 0, 0};
        kernel();
      });
    }
    for (std::thread& it : all) it.join();
  }
}

}  // namespace host

inline void __syncthreads() { host::cta->all.arrive_and_wait(); }
// A lane that has not seen a phase of a barrier must not miss it because another lane went on.
inline void __syncwarp() { host::meet_warp(); }

inline float __shfl_xor_sync(unsigned, float value, int lanes) {
  const auto here = static_cast<std::size_t>(host::index());
  host::cta->lanes[here] = value;
  host::meet_warp();
  const float other = host::cta->lanes[here ^ static_cast<std::size_t>(lanes)];
  host::meet_warp();
  return other;
}

namespace twill {

template <int Depth>
struct Ring {
  unsigned slot = 0, phase = 0;
  template <int K>
  Ring at() const {
    const int moved = static_cast<int>(slot) + K,
              laps = moved >= 0 ? moved / Depth : -((Depth - 1 - moved) / Depth);
    return {static_cast<unsigned>(moved - laps * Depth),
            (phase + static_cast<unsigned>(laps)) & 1u};
  }
  template <int K = 1>
  void advance() {
    *this = at<K>();
  }
};

// --- roles

inline int thread_here() { return host::index(); }
inline int warp_index() { return host::index() / host::kWarp; }
inline bool elect_one() { return host::index() % host::kWarp == 0; }
template <int N>
void registers_raise() {}
template <int N>
void registers_drop() {}
inline int trip_count(int lower, int upper, int step) {
  return upper > lower ? (upper - lower - 1) / step + 1 : 0;
}
struct BlockIds {
  int x, y, z;
};
inline BlockIds block_ids() {
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
}

// --- barriers

inline void barrier_init(uint64_t* bar, uint32_t arrivals) {
  const std::lock_guard lock(host::cta->guard);
  host::cta->barriers[bar] = {arrivals, arrivals, 0};
}
inline void barrier_init_fence() {}
inline void barrier_arrive(uint64_t* bar) {
  const std::lock_guard lock(host::cta->guard);
  auto& it = host::cta->barriers.at(bar);
  if (--it.pending > 0) return;
  it.pending = it.count;
  it.phase ^= 1u;
}
inline bool barrier_test(uint64_t* bar, uint32_t parity) {
  const std::lock_guard lock(host::cta->guard);
  return host::cta->barriers.at(bar).phase != parity;
}
inline void barrier_wait(uint64_t* bar, uint32_t parity) {
  while (!barrier_test(bar, parity)) std::this_thread::yield();
}
inline std::barrier<>& named_barrier(int id, int threads) {
  const std::lock_guard lock(host::cta->guard);
  auto& it = host::cta->named[id];
  if (!it) it = std::make_unique<std::barrier<>>(threads);
  return *it;
}
inline void named_sync(int id, int threads) { named_barrier(id, threads).arrive_and_wait(); }
inline void named_arrive(int id, int threads) { (void)named_barrier(id, threads).arrive(); }
inline void fence_proxy_async() {}

// --- copies

template <int Swizzle>
constexpr int swizzled(int row, int byte) {
  const int at = row * Swizzle + byte;
  return at ^ ((at >> 3) & (Swizzle - 16));
}

/// What is not inside must not be read, and everything must be aligned.
template <int Bytes>
void copy_async(void* to, const void* from, bool inside = true) {
  const auto aligned = [](const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % Bytes == 0;
  };
  if (!aligned(to) || (inside && !aligned(from))) {
    std::fprintf(stderr, "a chunk of %d bytes is not aligned\n", Bytes);
    std::exit(1);
  }
  host::copies.push_back({to, from, Bytes, inside});
}
inline void copies_arrive(uint64_t* full) {
  std::this_thread::yield();
  for (const host::Copy& copy : host::copies) {
    if (copy.inside) std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
    if (!copy.inside) std::memset(copy.to, 0, static_cast<std::size_t>(copy.bytes));
  }
  host::copies.clear();
  barrier_arrive(full);
}

// --- fragments

inline int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
inline int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }
inline int fragment_row() { return row_of(host::index() % 128, 0); }
inline int fragment_column() { return column_of(host::index() % 128, 0); }
inline uint32_t bits_of(__half x) {
  std::uint16_t bits;
  std::memcpy(&bits, &x, 2);
  return bits;
}
template <class T>
T unpack(uint32_t pair, int element) {
  const auto bits = static_cast<std::uint16_t>(pair >> (16 * element));
  T value;
  std::memcpy(&value, &bits, 2);
  return value;
}
inline uint32_t pack_bits(__half low, __half high) { return bits_of(low) | bits_of(high) << 16; }
template <class T>
uint32_t pack(float low, float high) {
  return pack_bits(T(low), T(high));
}
/// What lane l shows to lane g of its quad: its pair of group g.
inline void exchange_columns(uint32_t (&pairs)[4]) {
  const int here = host::index(), lane = here % 4;
  for (int j = 0; j < 4; ++j)
    host::cta->operands[static_cast<std::size_t>(here)][static_cast<std::size_t>(j)] = pairs[j];
  host::meet_warp();
  for (int l = 0; l < 4; ++l)
    pairs[l] =
        host::cta
            ->operands[static_cast<std::size_t>(here - lane + l)][static_cast<std::size_t>(lane)];
  host::meet_warp();
}
template <class T, int Size>
void store_columns(void* to, const T (&columns)[Size]) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof columns != 0) {
    std::fprintf(stderr, "%zu bytes are stored where they are not aligned\n", sizeof columns);
    std::exit(1);
  }
  std::memcpy(to, columns, sizeof columns);
}
inline float exp2_approx(float x) { return std::exp2(x); }
inline float log2_approx(float x) { return std::log2(x); }
inline float infinity() { return INFINITY; }
inline float not_a_number() { return NAN; }

// --- products

enum class Major { k, mn };
inline void wgmma_fence() {}
inline void wgmma_commit() {}
/// Products are of the warpgroup: they are done for all its threads, or for none.
template <int N>
void wgmma_wait() {
  host::meet_warpgroup();
}
template <class T, int Size>
void settle(T (&)[Size]) {}

/// PTX ISA, "Matrix Descriptor Format": all in units of 16 bytes but the swizzle.
inline uint64_t operand(const void* at, uint32_t leading, uint32_t stride, int swizzle) {
  const auto start = static_cast<uint64_t>(static_cast<const char*>(at) - smem);
  return start / 16 | uint64_t{leading / 16} << 16 | uint64_t{stride / 16} << 32 |
         static_cast<uint64_t>(swizzle == 128  ? 1
                               : swizzle == 64 ? 2
                                               : 3)
             << 62;
}
inline uint64_t advance(uint64_t descriptor, int bytes) {
  return (descriptor & ~uint64_t{0x3fff}) |
         ((descriptor + static_cast<uint64_t>(static_cast<std::int64_t>(bytes / 16))) & 0x3fff);
}

/// Element (mn, k) of an operand of 16 k: the swizzle is of the address.
template <class T>
float element(uint64_t descriptor, Major major, int mn, int k) {
  const int swizzle = 256 >> (descriptor >> 62);
  const int start = static_cast<int>(descriptor & 0x3fff) * 16;
  const int leading = static_cast<int>(descriptor >> 16 & 0x3fff) * 16;
  const int stride = static_cast<int>(descriptor >> 32 & 0x3fff) * 16;
  const int wide = swizzle / 2;
  int at = start;
  if (major == Major::k) at += mn / 8 * stride + mn % 8 * swizzle + 2 * k;
  if (major == Major::mn)
    at += mn / wide * leading + k / 8 * stride + k % 8 * swizzle + mn % wide * 2;
  at ^= (at >> 3) & (swizzle - 16);
  T value;
  std::memcpy(&value, smem + at, 2);
  return value;
}

template <int N, class T, Major A, Major B, int Offset = 0, int Size>
void wgmma_ss(float (&d)[Size], uint64_t a, uint64_t b, bool adds) {
  const int thread = host::index() % 128;
  for (int i = 0; i < N / 2; ++i) {
    float sum = adds ? d[Offset + i] : 0;
    for (int k = 0; k < 16; ++k) {
      sum += element<T>(a, A, row_of(thread, i), k) * element<T>(b, B, column_of(thread, i), k);
    }
    d[Offset + i] = sum;
  }
}

/// Registers j of A: rows h = j % 2 and columns 8 * (j / 2) + 2 * (lane % 4) of 16.
template <int N, class T, Major B, int Offset = 0, int Size, int Registers>
void wgmma_rs(float (&d)[Size], const uint32_t (&a)[Registers], int first, uint64_t b, bool adds) {
  const int here = host::index(), group = here / 128 * 128;
  for (int j = 0; j < 4; ++j)
    host::cta->operands[static_cast<std::size_t>(here)][static_cast<std::size_t>(j)] = a[first + j];
  host::meet_warpgroup();
  const auto a_at = [&](int row, int k) {
    const int thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
    const int j = row % 16 / 8 + k / 8 * 2;
    return static_cast<float>(unpack<T>(
        host::cta->operands[static_cast<std::size_t>(group + thread)][static_cast<std::size_t>(j)],
        k % 2));
  };
  for (int i = 0; i < N / 2; ++i) {
    float sum = adds ? d[Offset + i] : 0;
    for (int k = 0; k < 16; ++k) {
      sum += a_at(row_of(here % 128, i), k) * element<T>(b, B, column_of(here % 128, i), k);
    }
    d[Offset + i] = sum;
  }
  host::meet_warpgroup();
}

}  // namespace twill
