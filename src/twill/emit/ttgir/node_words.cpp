#include "twill/emit/ttgir/node_words.h"

#include <map>

namespace twill::emit::ttgir {

using device::NodeKind;

const NodeWords& words_of(NodeKind kind) {
  static const std::map<NodeKind, NodeWords> kNodes = {
      {NodeKind::add, {"arith.addi", {}}},
      {NodeKind::subtract, {"arith.subi", {}}},
      {NodeKind::multiply, {"arith.muli", {}}},
      {NodeKind::divide, {"arith.divsi", {}}},
      {NodeKind::exclusive_or, {"arith.xori", {}}},
      {NodeKind::equal, {"arith.cmpi", {}}},
      {NodeKind::at_most, {"arith.cmpi", {}}},
      {NodeKind::choose, {"arith.select", {}}},
      {NodeKind::both, {"arith.andi", {}}},
      {NodeKind::spread, {"tt.splat", {}}},
      {NodeKind::allocate, {"ttg.local_alloc", {}}},
      {NodeKind::element, {"ttg.memdesc_index", {"source", "index"}}},
      {NodeKind::rows, {"ttg.memdesc_subslice", {}}},
      {NodeKind::overlay, {"ttg.memdesc_reinterpret", {}}},
      {NodeKind::read, {"ttg.local_load", {"source"}}},
      {NodeKind::write, {"ttg.local_store", {"source", "destination"}}},
      {NodeKind::relayout, {"ttg.convert_layout", {}}},
      {NodeKind::transpose, {"ttg.memdesc_trans", {}}},
      {NodeKind::init_barrier, {"ttng.init_barrier", {}}},
      {NodeKind::end_barrier, {"ttng.inval_barrier", {}}},
      {NodeKind::wait, {"ttng.wait_barrier", {"barrier", "phase"}}},
      {NodeKind::arrive, {"ttng.arrive_barrier", {}}},
      {NodeKind::expect, {"ttng.barrier_expect", {"barrier", "pred"}}},
      {NodeKind::meet, {"gpu.barrier", {}}},
      {NodeKind::load_box,
       {"ttng.async_tma_copy_global_to_local",
        {"desc", "destination", "barrier", "pred", "indices"}}},
      {NodeKind::store_box, {"ttng.async_tma_copy_local_to_global", {"desc", "source", "indices"}}},
      {NodeKind::copy,
       {"ttg.async_copy_global_to_local", {"source", "destination", "mask", "other"}}},
      {NodeKind::arrive_copied, {"ttng.async_copy_mbarrier_arrive", {}}},
      {NodeKind::wait_products, {"ttng.warp_group_dot_wait", {}}},
      {NodeKind::scratch, {"ttg.global_scratch_alloc", {}}},
      {NodeKind::create_map, {"ttng.tensormap_create", {"desc", "base"}}},
      {NodeKind::acquire_map, {"ttng.tensormap_fenceproxy_acquire", {}}},
      {NodeKind::as_descriptor, {"ttng.reinterpret_tensor_descriptor", {}}},
  };
  return kNodes.at(kind);
}

}  // namespace twill::emit::ttgir
