#pragma once

#include "runtime/types.cuh"

namespace twill {

template <class... Coordinates>
__forceinline__ void tma_load(void* smem, const CUtensorMap* map, uint64_t* full,
                              Coordinates... coordinates) {
  const int32_t box[] = {static_cast<int32_t>(coordinates)...};
  run::tma_load(smem, map, full, 0, box, sizeof...(coordinates));
}
template <class... Coordinates>
__forceinline__ void tma_load_multicast(void* smem, const CUtensorMap* map, uint64_t* full,
                                        uint16_t ctas, Coordinates... coordinates) {
  const int32_t box[] = {static_cast<int32_t>(coordinates)...};
  run::tma_load(smem, map, full, ctas, box, sizeof...(coordinates));
}
template <class... Coordinates>
__forceinline__ void tma_store(const CUtensorMap* map, const void* smem,
                               Coordinates... coordinates) {
  const int32_t box[] = {static_cast<int32_t>(coordinates)...};
  run::tma_store(map, smem, false, box, sizeof...(coordinates));
}
template <class... Coordinates>
__forceinline__ void tma_reduce_add(const CUtensorMap* map, const void* smem,
                                    Coordinates... coordinates) {
  const int32_t box[] = {static_cast<int32_t>(coordinates)...};
  run::tma_store(map, smem, true, box, sizeof...(coordinates));
}
__forceinline__ void bulk_commit() { run::bulk_commit(); }
template <int N>
__forceinline__ void bulk_wait() {
  run::bulk_wait(N, false);
}
template <int N>
__forceinline__ void bulk_wait_read() {
  run::bulk_wait(N, true);
}
__forceinline__ void prefetch_map(const CUtensorMap* map) { run::prefetch_map(map); }
__forceinline__ void fence_proxy_async() { run::fence_proxy_async(); }

}  // namespace twill
