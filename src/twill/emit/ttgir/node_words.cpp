#include "twill/emit/ttgir/node_words.h"

#include <map>

namespace twill::emit::ttgir {

using device::NodeKind;

const NodeWords& words_of(NodeKind kind) {
  static const std::map<NodeKind, NodeWords> kNodes = {
      {NodeKind::add, {"arith.addi"}},
      {NodeKind::subtract, {"arith.subi"}},
      {NodeKind::multiply, {"arith.muli"}},
      {NodeKind::divide, {"arith.divsi"}},
      {NodeKind::exclusive_or, {"arith.xori"}},
      {NodeKind::equal, {"arith.cmpi", "predicate=0:i64"}},
      {NodeKind::at_most, {"arith.cmpi", "predicate=3:i64"}},
      {NodeKind::choose, {"arith.select"}},
      {NodeKind::both, {"arith.andi"}},
      {NodeKind::spread, {"tt.splat"}},
      {NodeKind::only, {"tt.unsplat"}},
      {NodeKind::allocate, {"ttg.local_alloc"}},
      {NodeKind::element, {"ttg.memdesc_index"}},
      {NodeKind::rows, {"ttg.memdesc_subslice", "offsets[]"}},
      {NodeKind::overlay, {"ttg.memdesc_reinterpret"}},
      {NodeKind::read, {"ttg.local_load"}},
      {NodeKind::write, {"ttg.local_store"}},
      {NodeKind::relayout, {"ttg.convert_layout"}},
      {NodeKind::transpose, {"ttg.memdesc_trans", "order[]"}},
      {NodeKind::init_barrier, {"ttng.init_barrier", "count"}},
      {NodeKind::end_barrier, {"ttng.inval_barrier"}},
      {NodeKind::wait, {"ttng.wait_barrier"}},
      {NodeKind::arrive, {"ttng.arrive_barrier", "count=1:i32"}},
      {NodeKind::expect, {"ttng.barrier_expect", "size"}},
      {NodeKind::meet, {"gpu.barrier"}},
      {NodeKind::proxy_fence, {"ttng.fence_async_shared", "bCluster=0:i1"}},
      {NodeKind::load_box, {"ttng.async_tma_copy_global_to_local"}},
      {NodeKind::store_box, {"ttng.async_tma_copy_local_to_global"}},
      {NodeKind::wait_stores, {"ttng.async_tma_store_wait", "pendings"}},
      {NodeKind::copy, {"ttg.async_copy_global_to_local"}},
      {NodeKind::arrive_copied, {"ttng.async_copy_mbarrier_arrive", "noIncrement!"}},
      {NodeKind::wait_products, {"ttng.warp_group_dot_wait", "pendings"}},
      {NodeKind::scratch, {"ttg.global_scratch_alloc", "alignment=128:i32 nbytes"}},
      {NodeKind::create_map,
       {"ttng.tensormap_create", "- elem_type fill_mode interleave_layout=0:i32 swizzle_mode"}},
      {NodeKind::acquire_map, {"ttng.tensormap_fenceproxy_acquire"}},
      {NodeKind::as_descriptor, {"ttng.reinterpret_tensor_descriptor"}},
  };
  return kNodes.at(kind);
}

}  // namespace twill::emit::ttgir
