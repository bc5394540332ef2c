#pragma once

#include "runtime/ring.cuh"
#include "runtime/types.cuh"

namespace twill {

__forceinline__ void barrier_init(uint64_t* bar, uint32_t arrivals) {
  run::barrier_init(bar, arrivals);
}
__forceinline__ void barrier_init_fence() { run::barrier_init_fence(); }
__forceinline__ void barrier_arrive(uint64_t* bar) { run::barrier_arrive(bar); }
__forceinline__ void barrier_arrive_remote(uint64_t* bar, uint32_t cta_rank) {
  run::barrier_arrive_remote(bar, cta_rank);
}
template <int Ctas>
__forceinline__ void barrier_arrive_cluster(uint64_t* bar) {
  for (uint32_t rank = 0; rank < Ctas; ++rank) run::barrier_arrive_remote(bar, rank);
}
__forceinline__ void barrier_expect(uint64_t* bar, uint32_t bytes) {
  run::barrier_expect(bar, bytes);
}
__forceinline__ bool barrier_test(uint64_t* bar, uint32_t parity) {
  return run::barrier_test(bar, parity);
}
__forceinline__ void barrier_wait(uint64_t* bar, uint32_t parity) {
  run::barrier_wait(bar, parity);
}
__forceinline__ void named_sync(int id, int threads) { run::named_sync(id, threads); }
__forceinline__ void named_arrive(int id, int threads) { run::named_arrive(id, threads); }
__forceinline__ void cluster_arrive() { run::cluster_arrive(); }
__forceinline__ void cluster_wait() { run::cluster_wait(); }
__forceinline__ uint32_t cluster_rank() { return run::cluster_rank(); }

}  // namespace twill
