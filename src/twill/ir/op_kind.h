#pragma once

#include <string_view>

/// A cheap name for the ops that some stage of Twill asks for by name. It is no whitelist: an op
/// that is not listed reads, prints and runs through the Program with OpKind::other.
namespace twill::ir {

// clang-format off
#define TWILL_OP_KINDS(X) \
  X(builtin_module, "builtin.module") \
  X(arith_constant, "arith.constant") \
  X(arith_addi, "arith.addi") X(arith_subi, "arith.subi") X(arith_muli, "arith.muli") \
  X(arith_divsi, "arith.divsi") X(arith_divui, "arith.divui") \
  X(arith_ceildivsi, "arith.ceildivsi") X(arith_ceildivui, "arith.ceildivui") \
  X(arith_floordivsi, "arith.floordivsi") \
  X(arith_remsi, "arith.remsi") X(arith_remui, "arith.remui") \
  X(arith_andi, "arith.andi") X(arith_ori, "arith.ori") X(arith_xori, "arith.xori") \
  X(arith_shli, "arith.shli") X(arith_shrsi, "arith.shrsi") X(arith_shrui, "arith.shrui") \
  X(arith_minsi, "arith.minsi") X(arith_minui, "arith.minui") \
  X(arith_maxsi, "arith.maxsi") X(arith_maxui, "arith.maxui") \
  X(arith_addf, "arith.addf") X(arith_subf, "arith.subf") X(arith_mulf, "arith.mulf") \
  X(arith_divf, "arith.divf") X(arith_remf, "arith.remf") X(arith_negf, "arith.negf") \
  X(arith_maximumf, "arith.maximumf") X(arith_minimumf, "arith.minimumf") \
  X(arith_maxnumf, "arith.maxnumf") X(arith_minnumf, "arith.minnumf") \
  X(arith_cmpi, "arith.cmpi") X(arith_cmpf, "arith.cmpf") X(arith_select, "arith.select") \
  X(arith_extsi, "arith.extsi") X(arith_extui, "arith.extui") X(arith_extf, "arith.extf") \
  X(arith_trunci, "arith.trunci") X(arith_truncf, "arith.truncf") \
  X(arith_sitofp, "arith.sitofp") X(arith_uitofp, "arith.uitofp") \
  X(arith_fptosi, "arith.fptosi") X(arith_fptoui, "arith.fptoui") \
  X(arith_bitcast, "arith.bitcast") X(arith_index_cast, "arith.index_cast") \
  X(arith_index_castui, "arith.index_castui") \
  X(arith_mulsi_extended, "arith.mulsi_extended") X(arith_mului_extended, "arith.mului_extended") \
  X(arith_addui_extended, "arith.addui_extended") \
  X(math_exp, "math.exp") X(math_exp2, "math.exp2") X(math_log, "math.log") \
  X(math_log2, "math.log2") X(math_sqrt, "math.sqrt") X(math_rsqrt, "math.rsqrt") \
  X(math_sin, "math.sin") X(math_cos, "math.cos") X(math_tanh, "math.tanh") X(math_erf, "math.erf") \
  X(math_absf, "math.absf") X(math_absi, "math.absi") X(math_floor, "math.floor") \
  X(math_ceil, "math.ceil") X(math_fma, "math.fma") \
  X(scf_for, "scf.for") X(scf_while, "scf.while") X(scf_if, "scf.if") X(scf_yield, "scf.yield") \
  X(scf_condition, "scf.condition") X(scf_execute_region, "scf.execute_region") \
  X(cf_br, "cf.br") X(cf_cond_br, "cf.cond_br") X(cf_assert, "cf.assert") \
  X(func_func, "func.func") X(func_return, "func.return") X(func_call, "func.call") \
  X(ub_poison, "ub.poison") X(gpu_barrier, "gpu.barrier") X(gpu_thread_id, "gpu.thread_id") \
  X(tt_func, "tt.func") X(tt_return, "tt.return") X(tt_call, "tt.call") \
  X(tt_get_program_id, "tt.get_program_id") X(tt_get_num_programs, "tt.get_num_programs") \
  X(tt_make_range, "tt.make_range") X(tt_splat, "tt.splat") X(tt_unsplat, "tt.unsplat") \
  X(tt_broadcast, "tt.broadcast") X(tt_expand_dims, "tt.expand_dims") X(tt_reshape, "tt.reshape") \
  X(tt_trans, "tt.trans") X(tt_cat, "tt.cat") X(tt_join, "tt.join") X(tt_split, "tt.split") \
  X(tt_gather, "tt.gather") X(tt_histogram, "tt.histogram") \
  X(tt_addptr, "tt.addptr") X(tt_advance, "tt.advance") X(tt_make_tensor_ptr, "tt.make_tensor_ptr") \
  X(tt_int_to_ptr, "tt.int_to_ptr") X(tt_ptr_to_int, "tt.ptr_to_int") X(tt_bitcast, "tt.bitcast") \
  X(tt_fp_to_fp, "tt.fp_to_fp") X(tt_clampf, "tt.clampf") X(tt_mulhiui, "tt.mulhiui") \
  X(tt_precise_sqrt, "tt.precise_sqrt") X(tt_precise_divf, "tt.precise_divf") \
  X(tt_load, "tt.load") X(tt_store, "tt.store") \
  X(tt_atomic_rmw, "tt.atomic_rmw") X(tt_atomic_cas, "tt.atomic_cas") \
  X(tt_dot, "tt.dot") X(tt_dot_scaled, "tt.dot_scaled") \
  X(tt_reduce, "tt.reduce") X(tt_reduce_return, "tt.reduce.return") \
  X(tt_scan, "tt.scan") X(tt_scan_return, "tt.scan.return") \
  X(tt_map_elementwise, "tt.map_elementwise") \
  X(tt_map_elementwise_return, "tt.map_elementwise.return") \
  X(tt_elementwise_inline_asm, "tt.elementwise_inline_asm") \
  X(tt_extern_elementwise, "tt.extern_elementwise") X(tt_print, "tt.print") X(tt_assert, "tt.assert") \
  X(tt_make_tensor_descriptor, "tt.make_tensor_descriptor") \
  X(tt_descriptor_load, "tt.descriptor_load") X(tt_descriptor_store, "tt.descriptor_store") \
  X(tt_descriptor_reduce, "tt.descriptor_reduce") X(tt_descriptor_gather, "tt.descriptor_gather") \
  X(tt_descriptor_scatter, "tt.descriptor_scatter") \
  X(ttg_convert_layout, "ttg.convert_layout") \
  X(ttg_local_alloc, "ttg.local_alloc") X(ttg_local_dealloc, "ttg.local_dealloc") \
  X(ttg_local_load, "ttg.local_load") X(ttg_local_store, "ttg.local_store") \
  X(ttg_memdesc_index, "ttg.memdesc_index") X(ttg_memdesc_subslice, "ttg.memdesc_subslice") \
  X(ttg_memdesc_subview, "ttg.memdesc_subview") X(ttg_memdesc_trans, "ttg.memdesc_trans") \
  X(ttg_memdesc_reshape, "ttg.memdesc_reshape") \
  X(ttg_memdesc_reinterpret, "ttg.memdesc_reinterpret") \
  X(ttg_async_copy_global_to_local, "ttg.async_copy_global_to_local") \
  X(ttg_async_commit_group, "ttg.async_commit_group") X(ttg_async_wait, "ttg.async_wait") \
  X(ttg_local_barrier, "ttg.local_barrier") \
  X(ttg_warp_specialize, "ttg.warp_specialize") \
  X(ttg_warp_specialize_partitions, "ttg.warp_specialize.partitions") \
  X(ttg_warp_yield, "ttg.warp_yield") X(ttg_warp_return, "ttg.warp_return") \
  X(ttng_warp_group_dot, "ttng.warp_group_dot") \
  X(ttng_warp_group_dot_wait, "ttng.warp_group_dot_wait") \
  X(ttng_tc_gen5_mma, "ttng.tc_gen5_mma") X(ttng_tc_gen5_mma_scaled, "ttng.tc_gen5_mma_scaled") \
  X(ttng_tc_gen5_commit, "ttng.tc_gen5_commit") \
  X(ttng_tmem_alloc, "ttng.tmem_alloc") X(ttng_tmem_load, "ttng.tmem_load") \
  X(ttng_tmem_store, "ttng.tmem_store") X(ttng_tmem_copy, "ttng.tmem_copy") \
  X(ttng_tmem_subslice, "ttng.tmem_subslice") \
  X(ttng_init_barrier, "ttng.init_barrier") X(ttng_inval_barrier, "ttng.inval_barrier") \
  X(ttng_barrier_expect, "ttng.barrier_expect") X(ttng_wait_barrier, "ttng.wait_barrier") \
  X(ttng_arrive_barrier, "ttng.arrive_barrier") \
  X(ttng_fence_async_shared, "ttng.fence_async_shared") \
  X(ttng_async_tma_copy_global_to_local, "ttng.async_tma_copy_global_to_local") \
  X(ttng_async_tma_copy_local_to_global, "ttng.async_tma_copy_local_to_global") \
  X(ttng_async_tma_reduce, "ttng.async_tma_reduce") \
  X(ttng_async_tma_gather, "ttng.async_tma_gather") \
  X(ttng_async_tma_scatter, "ttng.async_tma_scatter") \
  X(ttng_async_tma_store_wait, "ttng.async_tma_store_wait") \
  X(ttng_tensormap_create, "ttng.tensormap_create") \
  X(ttng_reinterpret_tensor_descriptor, "ttng.reinterpret_tensor_descriptor")
// clang-format on

enum class OpKind : unsigned char {
  other,
#define TWILL_ENUMERATOR(enumerator, spelling) enumerator,
  TWILL_OP_KINDS(TWILL_ENUMERATOR)
#undef TWILL_ENUMERATOR
};

/// The kind of an op as spelled by any Triton: `triton_gpu.` is `ttg.`, `triton_nvidia_gpu.` is
/// `ttng.`, and renamed ops (tt.experimental_descriptor_load) are what they are called today.
OpKind op_kind(std::string_view name);

/// Today's spelling of a kind; "?" for OpKind::other.
std::string_view spelling(OpKind kind);

/// Barriers, fences, tokens and the end of buffers: ops that order others and do nothing else.
bool is_synchronization(OpKind kind);

/// The part of an op name before the first dot: "arith".
std::string_view dialect_of(std::string_view name);

}  // namespace twill::ir
