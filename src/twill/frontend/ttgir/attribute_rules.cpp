#include "twill/frontend/ttgir/attribute_rules.h"

#include <cstdint>
#include <limits>
#include <string_view>

#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

struct Rule {
  std::string_view op;
  std::string_view attribute;
  std::string_view type;
  bool needed = false;
  std::int64_t first = -kAny, last = kAny;
};

/// Rules as TritonOps.td, TritonNvidiaGPUOps.td, TritonAttrDefs.td and ArithOps.td declare them.
constexpr Rule kRules[] = {
    {"arith.cmpi", "predicate", "i64", true, 0, 9},
    {"arith.cmpf", "predicate", "i64", true, 0, 15},
    {"tt.get_program_id", "axis", "i32", true, 0, 2},
    {"tt.get_num_programs", "axis", "i32", true, 0, 2},
    {"tt.make_range", "start", "i32", true},
    {"tt.make_range", "end", "i32", true},
    {"tt.expand_dims", "axis", "i32", true},
    {"tt.reduce", "axis", "i32", true},
    {"tt.scan", "axis", "i32", true},
    {"tt.scan", "reverse", "i1"},
    {"tt.gather", "axis", "i32", true},
    {"tt.load", "cache", "i32", false, 1, 7},
    {"tt.load", "evict", "i32", false, 1, 3},
    {"tt.load", "isVolatile", "i1"},
    {"tt.store", "cache", "i32", false, 1, 7},
    {"tt.store", "evict", "i32", false, 1, 3},
    {"tt.descriptor_load", "cache", "i32", false, 1, 7},
    {"tt.descriptor_load", "evict", "i32", false, 1, 3},
    {"tt.descriptor_reduce", "kind", "i32", true, 1, 8},
    {"tt.make_tensor_descriptor", "padding", "i32", false, 1, 2},
    {"tt.atomic_rmw", "atomic_rmw_op", "i32", true, 1, 10},
    {"tt.atomic_rmw", "sem", "i32", true, 1, 4},
    {"tt.atomic_rmw", "scope", "i32", true, 1, 3},
    {"tt.atomic_cas", "sem", "i32", true, 1, 4},
    {"tt.atomic_cas", "scope", "i32", true, 1, 3},
    {"tt.fp_to_fp", "rounding", "i32", false, 0, 1},
    {"tt.elementwise_inline_asm", "packed_element", "i32", true, 1, kAny},
    {"tt.elementwise_inline_asm", "pure", "i1", true},
    {"tt.extern_elementwise", "pure", "i1", true},
    {"tt.dot", "inputPrecision", "i32", false, 0, 4},
    {"tt.dot", "maxNumImpreciseAcc", "i32"},
    {"tt.trans", "order", "array<i32>"},
    {"ttg.memdesc_trans", "order", "array<i32>"},
    {"ttng.warp_group_dot", "inputPrecision", "i32", false, 0, 4},
    {"ttng.warp_group_dot", "maxNumImpreciseAcc", "i32"},
    {"ttng.warp_group_dot", "isAsync", "i1"},
    {"ttng.warp_group_dot_wait", "pendings", "i32", true},
    {"ttng.async_tma_store_wait", "pendings", "i32", true},
    {"ttng.async_tma_reduce", "kind", "i32", true, 1, 8},
    {"ttng.init_barrier", "count", "i32", true},
    {"ttng.barrier_expect", "size", "i32", true},
    {"ttng.arrive_barrier", "count", "i32", true},
    {"ttg.async_wait", "num", "i32", true},
};

bool is_of(ir::Attribute value, std::string_view type) {
  if (value->kind == ir::AttributeKind::boolean) return type == "i1";
  if (type.starts_with("array<")) {
    const bool dense = value->kind == ir::AttributeKind::dense_array && value->type != nullptr;
    return !dense || type == "array<" + value->type->text + ">";
  }
  return value->kind == ir::AttributeKind::integer && value->type != nullptr &&
         value->type->name == type;
}

}  // namespace

std::optional<std::string> wrong_attribute(const ir::Op& op) {
  for (const Rule& rule : kRules) {
    if (rule.op != op.name) continue;
    const std::string name = "'" + std::string(rule.attribute) + "'";
    const ir::Attribute found = attribute(op, rule.attribute);
    if (found == nullptr && !rule.needed) continue;
    if (found == nullptr) return "'" + op.name + "' has no " + name + " that is known";
    if (!is_of(found, rule.type)) {
      return "'" + op.name + "': " + name + " is " + found->text + ", but " +
             std::string(rule.type) + " is wanted";
    }
    if (rule.first <= found->integer && found->integer <= rule.last) continue;
    return "'" + op.name + "': " + name + " is " + std::to_string(found->integer) +
           ", which is out of range";
  }
  return {};
}

}  // namespace twill::frontend::ttgir
