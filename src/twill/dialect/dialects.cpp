#include "twill/dialect/dialects.h"

#include <unordered_map>
#include <utility>

namespace twill::dialect {
namespace {

using ir::OpKind;

/// Table of the ops that Twill knows. An op without an entry is read, printed and kept in the
/// Program as OpKind::other.
// clang-format off
using K = OpKind;
constexpr std::pair<std::string_view, OpKind> kKinds[] = {
    {"builtin.module", K::module}, {"arith.constant", K::constant}, {"arith.addi", K::add},
    {"arith.subi", K::sub}, {"arith.muli", K::mul}, {"arith.divsi", K::sdiv},
    {"arith.divui", K::udiv}, {"arith.ceildivsi", K::sdiv_up}, {"arith.ceildivui", K::udiv_up},
    {"arith.floordivsi", K::sdiv_down}, {"arith.remsi", K::srem}, {"arith.remui", K::urem},
    {"arith.andi", K::bit_and}, {"arith.ori", K::bit_or}, {"arith.xori", K::bit_xor},
    {"arith.shli", K::shl}, {"arith.shrsi", K::ashr}, {"arith.shrui", K::lshr},
    {"arith.minsi", K::smin}, {"arith.minui", K::umin}, {"arith.maxsi", K::smax},
    {"arith.maxui", K::umax}, {"arith.addf", K::fadd}, {"arith.subf", K::fsub},
    {"arith.mulf", K::fmul}, {"arith.divf", K::fdiv}, {"arith.remf", K::frem},
    {"arith.negf", K::fneg}, {"arith.maximumf", K::fmaximum}, {"arith.minimumf", K::fminimum},
    {"arith.maxnumf", K::fmaxnum}, {"arith.minnumf", K::fminnum}, {"arith.cmpi", K::icmp},
    {"arith.cmpf", K::fcmp}, {"arith.select", K::select}, {"arith.extsi", K::sext},
    {"arith.extui", K::zext}, {"arith.extf", K::fpext}, {"arith.trunci", K::trunc},
    {"arith.truncf", K::fptrunc}, {"arith.sitofp", K::sitofp}, {"arith.uitofp", K::uitofp},
    {"arith.fptosi", K::fptosi}, {"arith.fptoui", K::fptoui}, {"arith.bitcast", K::bitcast},
    {"arith.index_cast", K::index_cast}, {"arith.index_castui", K::index_castu},
    {"arith.mulsi_extended", K::smul_long}, {"arith.mului_extended", K::umul_long},
    {"arith.addui_extended", K::uadd_carry}, {"math.exp", K::exp}, {"math.exp2", K::exp2},
    {"math.log", K::log}, {"math.log2", K::log2}, {"math.sqrt", K::sqrt}, {"math.rsqrt", K::rsqrt},
    {"math.sin", K::sin}, {"math.cos", K::cos}, {"math.tanh", K::tanh}, {"math.erf", K::erf},
    {"math.absf", K::fabs}, {"math.absi", K::iabs}, {"math.floor", K::floor},
    {"math.ceil", K::ceil}, {"math.fma", K::fma}, {"scf.for", K::for_loop},
    {"scf.while", K::while_loop}, {"scf.if", K::branch}, {"scf.yield", K::yield},
    {"scf.condition", K::condition}, {"scf.execute_region", K::unmodelled}, {"cf.br", K::jump},
    {"cf.cond_br", K::jump_if}, {"cf.assert", K::check}, {"func.func", K::function},
    {"func.return", K::ret}, {"func.call", K::call}, {"ub.poison", K::poison},
    {"gpu.barrier", K::synchronize}, {"gpu.thread_id", K::unmodelled}, {"tt.func", K::function},
    {"tt.return", K::ret}, {"tt.call", K::call}, {"tt.get_program_id", K::program_id},
    {"tt.get_num_programs", K::program_count}, {"tt.make_range", K::range}, {"tt.splat", K::splat},
    {"tt.unsplat", K::unsplat}, {"tt.broadcast", K::broadcast}, {"tt.expand_dims", K::expand_dims},
    {"tt.reshape", K::reshape}, {"tt.trans", K::transpose}, {"tt.cat", K::cat},
    {"tt.join", K::join}, {"tt.split", K::split}, {"tt.gather", K::gather},
    {"tt.histogram", K::histogram}, {"tt.addptr", K::pointer_add},
    {"tt.advance", K::pointer_advance}, {"tt.make_tensor_ptr", K::unmodelled},
    {"tt.int_to_ptr", K::inttoptr}, {"tt.ptr_to_int", K::ptrtoint}, {"tt.bitcast", K::bitcast},
    {"tt.fp_to_fp", K::fpcast}, {"tt.clampf", K::clamp}, {"tt.mulhiui", K::umul_high},
    {"tt.precise_sqrt", K::precise_sqrt}, {"tt.precise_divf", K::precise_fdiv},
    {"tt.approx_divf", K::fdiv},
    {"tt.load", K::load}, {"tt.store", K::store}, {"tt.atomic_rmw", K::atomic_update},
    {"tt.atomic_cas", K::atomic_compare}, {"tt.dot", K::mma}, {"tt.dot_scaled", K::mma_scaled},
    {"tt.reduce", K::reduce}, {"tt.reduce.return", K::combined}, {"tt.scan", K::scan},
    {"tt.scan.return", K::combined}, {"tt.map_elementwise", K::unmodelled},
    {"tt.map_elementwise.return", K::unmodelled}, {"tt.elementwise_inline_asm", K::inline_asm},
    {"tt.extern_elementwise", K::library_call}, {"tt.print", K::print}, {"tt.assert", K::check},
    {"tt.make_tensor_descriptor", K::make_descriptor}, {"tt.descriptor_load", K::block_load},
    {"tt.descriptor_store", K::block_store}, {"tt.descriptor_reduce", K::block_update},
    {"tt.descriptor_gather", K::block_gather}, {"tt.descriptor_scatter", K::block_scatter},
    {"ttg.convert_layout", K::relayout}, {"ttg.local_alloc", K::shared_alloc},
    {"ttg.local_dealloc", K::shared_end}, {"ttg.local_load", K::shared_load},
    {"ttg.local_store", K::shared_store}, {"ttg.memdesc_index", K::buffer_index},
    {"ttg.memdesc_subslice", K::buffer_slice}, {"ttg.memdesc_subview", K::buffer_subview},
    {"ttg.memdesc_trans", K::buffer_transpose}, {"ttg.memdesc_reshape", K::buffer_reshape},
    {"ttg.memdesc_reinterpret", K::buffer_cast}, {"ttg.async_copy_global_to_local", K::copy_async},
    {"ttg.async_commit_group", K::copy_commit}, {"ttg.async_wait", K::copy_wait},
    {"tt.grid_dependency_wait", K::launch_order},
    {"tt.grid_dependency_launch_dependents", K::launch_order},
    {"ttg.local_barrier", K::synchronize}, {"ttg.barrier", K::synchronize},
    {"ttg.warp_specialize", K::warp_roles}, {"ttg.warp_specialize.partitions", K::warp_partitions},
    {"ttg.warp_yield", K::roles_end}, {"ttg.warp_return", K::partition_end}, {"ttng.warp_group_dot", K::wgmma},
    {"ttng.warp_group_dot_wait", K::wgmma_wait}, {"ttng.tc_gen5_mma", K::tcgen05},
    {"ttng.tc_gen5_mma_scaled", K::tcgen05_scaled}, {"ttng.tc_gen5_commit", K::tcgen05_commit},
    {"ttng.tmem_alloc", K::tensor_alloc}, {"ttng.tmem_load", K::tensor_load},
    {"ttng.tmem_store", K::tensor_store}, {"ttng.tmem_copy", K::tensor_copy},
    {"ttng.tmem_subslice", K::tensor_slice}, {"ttng.init_barrier", K::barrier_init},
    {"ttng.inval_barrier", K::barrier_end}, {"ttng.barrier_expect", K::barrier_expect},
    {"ttng.wait_barrier", K::barrier_wait}, {"ttng.arrive_barrier", K::barrier_arrive},
    {"ttng.async_copy_mbarrier_arrive", K::copy_arrive},
    {"ttng.fence_async_shared", K::proxy_fence},
    {"ttng.fence_mbarrier_init_release_cluster", K::synchronize},
    {"ttng.async_tma_copy_global_to_local", K::block_load_async},
    {"ttng.async_tma_copy_local_to_global", K::block_store_async},
    {"ttng.async_tma_reduce", K::block_update_async},
    {"ttng.async_tma_gather", K::block_gather_async},
    {"ttng.async_tma_scatter", K::block_scatter_async},
    {"ttng.async_tma_store_wait", K::block_store_wait}, {"ttng.tensormap_create", K::unmodelled},
    {"ttng.reinterpret_tensor_descriptor", K::unmodelled}, {"llvm.intr.assume", K::assume},
};
// clang-format on

/// Pairs of an older Triton's name, with today's dialect prefix, and today's name.
using Renaming = std::pair<std::string_view, std::string_view>;
constexpr Renaming kRenamed[] = {
    {"tt.experimental_descriptor_load", "tt.descriptor_load"},
    {"tt.experimental_descriptor_store", "tt.descriptor_store"},
    {"tt.experimental_descriptor_gather", "tt.descriptor_gather"},
    {"tt.experimental_descriptor_scatter", "tt.descriptor_scatter"},
    {"ttng.dot_async", "ttng.warp_group_dot"},
    {"ttng.dot_wait", "ttng.warp_group_dot_wait"},
    {"ttg.dot_async", "ttng.warp_group_dot"},
    {"ttg.dot_wait", "ttng.warp_group_dot_wait"},
    {"tt.reshape_op", "tt.reshape"},
};

}  // namespace

std::string todays_name(std::string_view name) {
  constexpr std::string_view kOldGpu = "triton_gpu.";
  constexpr std::string_view kOldNvidia = "triton_nvidia_gpu.";
  std::string today(name);
  if (name.starts_with(kOldGpu)) {
    today = "ttg." + std::string(name.substr(kOldGpu.size()));
  } else if (name.starts_with(kOldNvidia)) {
    today = "ttng." + std::string(name.substr(kOldNvidia.size()));
  }
  for (const auto& [old_name, new_name] : kRenamed) {
    if (today == old_name) return std::string(new_name);
  }
  return today;
}

OpKind kind_of(std::string_view name) {
  static const std::unordered_map<std::string_view, OpKind> kTable(std::begin(kKinds),
                                                                   std::end(kKinds));
  auto found = kTable.find(name);
  if (found == kTable.end()) found = kTable.find(todays_name(name));
  return found == kTable.end() ? OpKind::other : found->second;
}

std::string_view dialect_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace twill::dialect
