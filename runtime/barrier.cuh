#pragma once

#include "runtime/ring.cuh"
#include "runtime/types.cuh"

/// Barriers: mbarriers in shared memory (one phase bit each), named barriers of the CTA (0 to 15; 0
/// is __syncthreads), and the barrier of the cluster.
namespace twill {

// mbarriers (PTX ISA, "mbarrier"); `bar` lies in this CTA's shared memory, 8-byte aligned.

/// Initializes a barrier; called once, by one thread. A phase of the barrier is complete after
/// `arrivals` arrivals (1 to 2^20 - 1) and all bytes that were expected in it. By reference: by
/// value, nvcc 13.0 arranges the code of some kernels in another way.
__device__ __forceinline__ void barrier_init(uint64_t* bar, const uint32_t& arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals)
               : "memory");
}

/// Makes the barriers known to the copy engine and to the other CTAs. The initializing thread calls
/// it after the last barrier_init and before the CTA (or cluster) synchronizes.
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// One arrival, by the calling thread.
__device__ __forceinline__ void barrier_arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar))
               : "memory");
}

/// One arrival, by the calling thread, at the barrier of CTA `cta_rank` of the cluster that has the
/// same offset as `bar` here; `cta_rank` may be this CTA's own. That CTA must not have exited.
///
/// Releases a slot that was read. The arrival does not make this thread's earlier writes visible to
/// the other CTA. That takes a release at cluster scope, which is a memory barrier of the whole
/// GPU.
__device__ __forceinline__ void barrier_arrive_remote(uint64_t* bar, uint32_t cta_rank) {
  asm volatile(
      "{.reg .b32 remote;"
      " mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(shared_address(bar)),
      "r"(cta_rank)
      : "memory");
}

/// One arrival, by the calling thread, at the barrier with this offset in each of the `Ctas` CTAs
/// of the cluster, as barrier_arrive_remote does.
template <int Ctas>
__device__ __forceinline__ void barrier_arrive_cluster(uint64_t* bar) {
#pragma unroll
  for (uint32_t rank = 0; rank < Ctas; ++rank) barrier_arrive_remote(bar, rank);
}

/// One arrival, by the calling thread, that also makes the current phase wait for `bytes` (below
/// 2^20) to be written by copies that name this barrier.
__device__ __forceinline__ void barrier_expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(bar)),
               "r"(bytes)
               : "memory");
}

/// True if the phase of parity `parity` is complete. May suspend the thread for a while.
__device__ __forceinline__ bool barrier_test(uint64_t* bar, uint32_t parity) {
  uint32_t complete;
  asm volatile(
      "{.reg .pred complete;"
      " mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;"
      " selp.b32 %0, 1, 0, complete;}"
      : "=r"(complete)
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
  return complete != 0;
}

/// Returns when the phase of parity `parity` is complete; called by every thread that needs the
/// phase's data or order. A thread must never be more than one phase behind, or the parity belongs
/// to another lap.
__device__ __forceinline__ void barrier_wait(uint64_t* bar, uint32_t parity) {
  while (!barrier_test(bar, parity)) {
  }
}

// Named barriers (PTX ISA, "bar, barrier"); whole warps, converged. `id` is 1 to 15, `threads` (a
// multiple of 32) counts all that sync or arrive.

/// Arrives, and waits until `threads` threads have arrived.
__device__ __forceinline__ void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives, and does not wait.
__device__ __forceinline__ void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// The cluster's barrier (PTX ISA, "barrier.cluster"); every thread of every CTA arrives, then
// waits. Writes before the arrival are visible after the wait.

__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/// This CTA's rank in its cluster, from 0; 0 without a cluster.
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

}  // namespace twill
