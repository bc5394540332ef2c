#pragma once

#include <cstddef>
#include <cstdint>

/// Operations of a GPU's threads that the stand-ins of this folder request from the executor, for
/// the calling thread. No function here is inlined, so that the caller's address leads to the line
/// of the kernel. The rules are those of the PTX ISA; breaking a rule is a finding.
namespace twill::run {

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};
/// Indices and extents of the running thread.
extern Extent thread_index, block_index, block_extent, grid_extent;

/// A launch with the parameters of cudaLaunchKernelEx; `body(context)` is one thread.
struct Grid {
  Extent ctas;
  int threads = 0, cluster = 1;
  std::size_t shared_bytes = 0;
};
/// Returns when every CTA has ended, or at the first finding after which the launch cannot go on.
void launch(const Grid& grid, void (*body)(void*), void* context);
int multiprocessors();

// Barriers. `bar` lies in shared memory.
void barrier_init(std::uint64_t* bar, std::uint32_t arrivals);
void barrier_init_fence();
void barrier_arrive(std::uint64_t* bar);
void barrier_arrive_remote(std::uint64_t* bar, std::uint32_t rank);
void barrier_expect(std::uint64_t* bar, std::uint32_t bytes);
bool barrier_test(std::uint64_t* bar, std::uint32_t parity);
void barrier_wait(std::uint64_t* bar, std::uint32_t parity);
void named_sync(int id, int threads);
void named_arrive(int id, int threads);
void sync_threads();
void cluster_arrive();
void cluster_wait();
std::uint32_t cluster_rank();

// Warps.
void sync_warp();
bool elect();
std::uint32_t shuffle(std::uint32_t value, int lane_xor, int lane_or_minus);
std::uint32_t active_lanes();
void set_registers(int registers, bool raise);
/// Moves rows of four 8 x 8 matrices of 16 bits between registers and shared memory.
void store_matrices(void* row, const std::uint32_t (&values)[4], bool transposed);
void load_matrices(std::uint32_t (&values)[4], const void* row);

// Memory. An atomic operation is announced before it is done.
void fence_proxy_async();
void announce_atomic(const void* at, std::size_t bytes);
/// Accesses that are announced, and must not count as others.
void peek(void* to, const void* at, std::size_t bytes);
void poke(void* at, const void* from, std::size_t bytes);
/// Replaces the contents, after the access was announced; returns the old contents.
template <class T, class Change>
T exchange(T* at, const Change& change) {
  T old;
  peek(&old, at, sizeof(T));
  const T changed = change(old);
  poke(at, &changed, sizeof(T));
  return old;
}

// Copies.
void copy_async(void* to, const void* from, int bytes, bool inside);
void copies_arrive(std::uint64_t* bar);
/// `ctas` 0: loads into the own CTA.
void tma_load(void* to, const void* map, std::uint64_t* full, unsigned ctas,
              const std::int32_t* coordinates, int rank);
void tma_store(const void* map, const void* from, bool adds, const std::int32_t* coordinates,
               int rank);
void bulk_commit();
void bulk_wait(int pending, bool reads_only);
void prefetch_map(const void* map);

/// Source of a tensor map; lies in the 128 bytes of a CUtensorMap.
struct TensorMap {
  std::uint64_t base;
  std::uint64_t strides[4];       ///< bytes, from dimension 1 on
  std::uint32_t largest[5];       ///< largest index of each dimension
  std::uint16_t box[5];           ///< elements
  std::uint8_t type, rank;        ///< type 1: fp16, 2: bf16, 3: fp32; rank 0: never encoded
  std::uint8_t swizzle, outside;  ///< in units of 16 bytes; 1: NaN outside
};

// Products on tensor cores.
/// The descriptor of an operand (runtime/wgmma.cuh); its address is the one in shared memory.
std::uint64_t describe_operand(const void* at, std::uint32_t leading, std::uint32_t stride,
                               int swizzle);
void wgmma_fence();
void wgmma_commit();
void wgmma_wait(int pending);
struct Product {
  int columns = 0;
  bool bfloat16 = false;
  bool a_mn = false, b_mn = false;             ///< Major::mn
  const std::uint32_t* a_registers = nullptr;  ///< 4 registers; null: `a` describes shared memory
  std::uint64_t a = 0, b = 0;
  bool accumulate = false;
};
void wgmma(float* d, const Product& product);

}  // namespace twill::run
