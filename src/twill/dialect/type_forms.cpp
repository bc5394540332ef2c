#include "twill/dialect/type_forms.h"

#include <unordered_map>

#include "twill/dialect/dialects.h"

namespace twill::dialect {
namespace {

using F = TypeForm;

/// Ops whose types do not follow the rule of their class.
const std::unordered_map<std::string_view, TypeForm>& forms() {
  static const std::unordered_map<std::string_view, TypeForm> kForms = {
      {"arith.cmpi", F::first},
      {"arith.cmpf", F::first},
      {"arith.select", F::choice},
      {"arith.extsi", F::cast},
      {"arith.extui", F::cast},
      {"arith.extf", F::cast},
      {"arith.trunci", F::cast},
      {"arith.truncf", F::cast},
      {"arith.sitofp", F::cast},
      {"arith.uitofp", F::cast},
      {"arith.fptosi", F::cast},
      {"arith.fptoui", F::cast},
      {"arith.bitcast", F::cast},
      {"arith.index_cast", F::cast},
      {"arith.index_castui", F::cast},
      {"arith.mulsi_extended", F::generic},
      {"arith.mului_extended", F::generic},
      {"arith.addui_extended", F::generic},
      {"tt.get_program_id", F::result},
      {"tt.get_num_programs", F::result},
      {"tt.make_range", F::result},
      {"tt.splat", F::arrow},
      {"tt.broadcast", F::arrow},
      {"tt.expand_dims", F::arrow},
      {"tt.reshape", F::arrow},
      {"tt.trans", F::arrow},
      {"tt.bitcast", F::arrow},
      {"tt.fp_to_fp", F::arrow},
      {"tt.int_to_ptr", F::arrow},
      {"tt.ptr_to_int", F::arrow},
      {"tt.mulhiui", F::result},
      {"tt.precise_sqrt", F::result},
      {"tt.precise_divf", F::result},
      {"tt.approx_divf", F::result},
      {"tt.clampf", F::result},
      {"tt.join", F::arrow},
      {"tt.addptr", F::address},
      {"tt.load", F::first},
      {"tt.store", F::first},
      {"tt.descriptor_load", F::arrow},
      {"tt.descriptor_store", F::operands},
      {"tt.descriptor_reduce", F::operands},
      {"tt.reduce.return", F::operands},
      {"tt.scan.return", F::operands},
      {"ttg.convert_layout", F::arrow},
      {"ttg.local_alloc", F::function},
      {"ttg.local_load", F::arrow},
      {"ttg.local_store", F::arrow},
      {"ttg.memdesc_index", F::arrow},
      {"ttg.memdesc_subslice", F::arrow},
      {"ttg.memdesc_trans", F::arrow},
      {"ttg.memdesc_reshape", F::arrow},
      {"ttg.memdesc_reinterpret", F::arrow},
      {"ttng.warp_group_dot", F::product},
      {"ttng.warp_group_dot_wait", F::operands},
      {"ttng.async_tma_store_wait", F::none},
      {"ttng.fence_async_shared", F::none},
      {"ttng.init_barrier", F::first},
      {"ttng.barrier_expect", F::first},
      {"ttng.wait_barrier", F::first},
      {"ttng.arrive_barrier", F::first},
      {"ttg.async_copy_global_to_local", F::copy},
      {"ttng.async_tma_copy_global_to_local", F::copy_in},
      {"ttng.async_tma_copy_local_to_global", F::operands},
      {"ttng.async_tma_reduce", F::operands},
      {"ttng.async_copy_mbarrier_arrive", F::first},
      {"ttg.global_scratch_alloc", F::result},
      {"ttng.tensormap_create", F::function},
      {"ttng.tensormap_fenceproxy_acquire", F::first},
      {"ttng.reinterpret_tensor_descriptor", F::cast},
  };
  return kForms;
}

}  // namespace

TypeForm type_form(std::string_view name) {
  const auto found = forms().find(name);
  if (found != forms().end()) return found->second;
  const std::string_view dialect = dialect_of(name);
  const bool computes = ir::class_of(kind_of(name)) == ir::OpClass::elementwise;
  return computes && (dialect == "arith" || dialect == "math") ? F::result : F::generic;
}

Spelling spelling_of(std::string_view text) {
  constexpr std::string_view kDescriptor = "!tt.tensordesc<";
  const std::size_t at = text.find(kDescriptor);
  if (at == std::string_view::npos) return Spelling::v3_6;
  return text.substr(at + kDescriptor.size()).starts_with("tensor<") ? Spelling::v3_6
                                                                     : Spelling::v3_8;
}

}  // namespace twill::dialect
