#include "twill/dialect/roles.h"

#include <algorithm>
#include <unordered_map>

#include "twill/dialect/attributes.h"
#include "twill/dialect/dialects.h"

namespace twill::dialect {
namespace {

using ir::Role;

constexpr OperandRole one(std::string_view name, std::optional<Role> role = {}) {
  return {name, Arity::one, role};
}
constexpr OperandRole opt(std::string_view name, std::optional<Role> role = {}) {
  return {name, Arity::optional, role};
}
constexpr OperandRole many(std::string_view name, std::optional<Role> role = {}) {
  return {name, Arity::variadic, role};
}

using Table = std::unordered_map<std::string_view, std::vector<OperandRole>>;

/// Operands, as Triton 3.6 declares them. Listed are ops with roles that other rooms use, and ops
/// whose custom form reorders operands or leaves out groups.
const Table& table() {
  static const Table kTable = {
      {"cf.cond_br",
       {one("condition"), many("true_args", Role::taken), many("false_args", Role::otherwise)}},
      {"tt.make_tensor_ptr", {one("base"), many("shape"), many("strides"), many("offsets")}},
      {"tt.make_tensor_descriptor",
       {one("base", Role::base), many("shape", Role::extents), many("strides", Role::strides)}},
      {"tt.load", {one("ptr", Role::address), opt("mask", Role::mask), opt("other", Role::fill)}},
      {"tt.store",
       {one("ptr", Role::address), one("value", Role::source), opt("mask", Role::mask)}},
      {"tt.atomic_rmw",
       {one("ptr", Role::address), one("value", Role::source), opt("mask", Role::mask)}},
      {"tt.atomic_cas",
       {one("ptr", Role::address), one("compare", Role::expected), one("value", Role::source)}},
      {"tt.descriptor_load", {one("desc", Role::address), many("indices", Role::coordinates)}},
      {"tt.descriptor_store",
       {one("desc", Role::address), one("source", Role::source),
        many("indices", Role::coordinates)}},
      {"tt.descriptor_reduce",
       {one("desc", Role::address), one("source", Role::source),
        many("indices", Role::coordinates)}},
      {"tt.descriptor_gather",
       {one("desc", Role::address), one("x_offsets", Role::rows),
        one("y_offset", Role::coordinates)}},
      {"tt.descriptor_scatter",
       {one("desc", Role::address), one("x_offsets", Role::rows),
        one("y_offset", Role::coordinates), one("source", Role::source)}},
      {"tt.dot", {one("a", Role::a), one("b", Role::b), one("c", Role::accumulator)}},
      {"tt.dot_scaled",
       {one("a", Role::a), one("b", Role::b), one("c", Role::accumulator),
        opt("a_scale", Role::a_scale), opt("b_scale", Role::b_scale)}},
      {"ttg.local_alloc", {opt("source", Role::source)}},
      {"ttg.local_load", {one("source", Role::address), opt("token", Role::token)}},
      {"ttg.local_store", {one("source", Role::source), one("destination", Role::address)}},
      {"ttg.memdesc_index", {one("source", Role::source), one("index")}},
      {"ttg.memdesc_subview", {one("source", Role::source), many("offsets")}},
      {"ttg.async_copy_global_to_local",
       {one("source", Role::address), one("destination", Role::destination),
        opt("mask", Role::mask), opt("other", Role::fill)}},
      {"ttng.warp_group_dot",
       {one("a", Role::a), one("b", Role::b), one("c", Role::accumulator),
        opt("use_c", Role::use_accumulator)}},
      {"ttng.tc_gen5_mma",
       {one("a", Role::a), one("b", Role::b), one("d", Role::accumulator),
        opt("token", Role::token), one("use_d", Role::use_accumulator),
        one("pred", Role::predicate), many("barriers", Role::barriers),
        many("barrier_preds", Role::barrier_predicates)}},
      {"ttng.tc_gen5_mma_scaled",
       {one("a", Role::a), one("b", Role::b), one("d", Role::accumulator),
        opt("token", Role::token), one("a_scale", Role::a_scale), one("b_scale", Role::b_scale),
        one("use_d", Role::use_accumulator), one("pred", Role::predicate),
        many("barriers", Role::barriers), many("barrier_preds", Role::barrier_predicates)}},
      {"ttng.tmem_alloc", {opt("source", Role::source)}},
      {"ttng.tmem_load", {one("source", Role::address), opt("token", Role::token)}},
      {"ttng.tmem_store",
       {one("destination", Role::address), opt("token", Role::token), one("source", Role::source),
        one("pred", Role::predicate)}},
      {"ttng.tmem_copy",
       {one("source", Role::source), one("destination", Role::destination),
        opt("barrier", Role::barrier)}},
      {"ttng.init_barrier", {one("barrier", Role::barrier)}},
      {"ttng.inval_barrier", {one("barrier", Role::barrier)}},
      {"ttng.barrier_expect", {one("barrier", Role::barrier), one("pred", Role::predicate)}},
      {"ttng.arrive_barrier", {one("barrier", Role::barrier), opt("pred", Role::predicate)}},
      {"ttng.async_copy_mbarrier_arrive", {one("barrier", Role::barrier)}},
      {"ttng.tc_gen5_commit", {one("barrier", Role::barrier), opt("pred", Role::predicate)}},
      {"ttng.wait_barrier",
       {one("barrier", Role::barrier), one("phase", Role::phase), opt("pred", Role::predicate),
        many("deps")}},
      {"ttng.async_tma_copy_global_to_local",
       {one("desc", Role::address), many("indices", Role::coordinates),
        one("barrier", Role::barrier), one("destination", Role::destination),
        one("pred", Role::predicate)}},
      {"ttng.async_tma_copy_local_to_global",
       {one("desc", Role::address), many("indices", Role::coordinates),
        one("source", Role::source)}},
      {"ttng.async_tma_reduce",
       {one("desc", Role::address), many("indices", Role::coordinates),
        one("source", Role::source)}},
      {"ttng.tensormap_create",
       {one("desc"), one("base"), many("box"), many("shape"), many("strides"),
        many("element_strides")}},
      {"ttng.async_tma_gather",
       {one("desc", Role::address), one("x_offsets", Role::rows),
        one("y_offset", Role::coordinates), one("barrier", Role::barrier),
        one("destination", Role::destination), one("pred", Role::predicate)}},
      {"ttng.async_tma_scatter",
       {one("desc", Role::address), one("x_offsets", Role::rows),
        one("y_offset", Role::coordinates), one("source", Role::source)}},
  };
  return kTable;
}

}  // namespace

std::span<const OperandRole> roles_of(std::string_view name) {
  auto found = table().find(name);
  if (found == table().end()) found = table().find(todays_name(name));
  return found == table().end() ? std::span<const OperandRole>() : found->second;
}

bool has_segment_sizes(std::string_view name) {
  // Variadic operands of these ops all have the same number of elements.
  if (name == "tt.make_tensor_ptr" || name == "tt.make_tensor_descriptor") return false;
  int open = 0;
  for (const OperandRole& role : roles_of(name)) open += role.arity == Arity::one ? 0 : 1;
  return open > 1;
}

std::optional<std::vector<std::size_t>> operand_segments(const ir::Op& op) {
  return operand_segments(op.name, op.operands.size(), op.attributes);
}

std::optional<std::vector<std::size_t>> operand_segments(
    std::string_view name, std::size_t count, const std::vector<ir::NamedAttribute>& attributes) {
  const std::span<const OperandRole> roles = roles_of(name);
  std::vector<std::size_t> sizes;
  const auto stated = std::find_if(attributes.begin(), attributes.end(), [](const auto& it) {
    return it.first == "operandSegmentSizes";
  });
  const auto written = stated == attributes.end() ? std::nullopt : integers_of(stated->second);
  if (written) {
    std::size_t total = 0;
    for (const std::int64_t size : *written) {
      if (size < 0 || static_cast<std::size_t>(size) > count) return std::nullopt;
      total += static_cast<std::size_t>(size);
      sizes.push_back(static_cast<std::size_t>(size));
    }
    if (sizes.size() != roles.size() || total != count) return std::nullopt;
    return sizes;
  }
  std::size_t fixed = 0;
  for (const OperandRole& role : roles) fixed += role.arity == Arity::one ? 1 : 0;
  const std::size_t open = roles.size() - fixed;
  if (count < fixed || (open == 0 && count != fixed)) return std::nullopt;
  if (open > 0 && (count - fixed) % open != 0) return std::nullopt;
  const std::size_t each = open == 0 ? 0 : (count - fixed) / open;
  for (const OperandRole& role : roles) {
    if (role.arity == Arity::optional && each > 1) return std::nullopt;
    sizes.push_back(role.arity == Arity::one ? 1 : each);
  }
  return sizes;
}

}  // namespace twill::dialect
