#include "twill/ir/operands.h"

#include <array>
#include <vector>

namespace twill::ir {
namespace {

struct Entry {
  OpKind kind;
  std::vector<Role> roles;
};

constexpr Role one(std::string_view name) { return {name, Arity::one}; }
constexpr Role opt(std::string_view name) { return {name, Arity::optional}; }
constexpr Role many(std::string_view name) { return {name, Arity::variadic}; }

/// Operand order of every op with distinct operands, as Triton 3.6 declares them.
const std::vector<Entry>& table() {
  static const std::vector<Entry> kTable = {
      {OpKind::arith_select, {one("condition"), one("true_value"), one("false_value")}},
      {OpKind::scf_for, {one("lower"), one("upper"), one("step"), many("inits")}},
      {OpKind::scf_if, {one("condition")}},
      {OpKind::scf_while, {many("inits")}},
      {OpKind::scf_condition, {one("condition"), many("args")}},
      {OpKind::cf_cond_br, {one("condition"), many("true_args"), many("false_args")}},
      {OpKind::tt_addptr, {one("ptr"), one("offset")}},
      {OpKind::tt_advance, {one("ptr"), many("offsets")}},
      {OpKind::tt_make_tensor_ptr, {one("base"), many("shape"), many("strides"), many("offsets")}},
      {OpKind::tt_make_tensor_descriptor, {one("base"), many("shape"), many("strides")}},
      {OpKind::tt_load, {one("ptr"), opt("mask"), opt("other")}},
      {OpKind::tt_store, {one("ptr"), one("value"), opt("mask")}},
      {OpKind::tt_atomic_rmw, {one("ptr"), one("value"), opt("mask")}},
      {OpKind::tt_atomic_cas, {one("ptr"), one("compare"), one("value")}},
      {OpKind::tt_gather, {one("source"), one("index")}},
      {OpKind::tt_descriptor_load, {one("desc"), many("indices")}},
      {OpKind::tt_descriptor_store, {one("desc"), one("source"), many("indices")}},
      {OpKind::tt_descriptor_reduce, {one("desc"), one("source"), many("indices")}},
      {OpKind::tt_descriptor_gather, {one("desc"), one("x_offsets"), one("y_offset")}},
      {OpKind::tt_descriptor_scatter,
       {one("desc"), one("x_offsets"), one("y_offset"), one("source")}},
      {OpKind::tt_dot, {one("a"), one("b"), one("c")}},
      {OpKind::tt_dot_scaled, {one("a"), one("b"), one("c"), opt("a_scale"), opt("b_scale")}},
      {OpKind::ttg_local_alloc, {opt("source")}},
      {OpKind::ttg_local_dealloc, {one("source")}},
      {OpKind::ttg_local_load, {one("source"), opt("token")}},
      {OpKind::ttg_local_store, {one("source"), one("destination")}},
      {OpKind::ttg_memdesc_index, {one("source"), one("index")}},
      {OpKind::ttg_memdesc_subview, {one("source"), many("offsets")}},
      {OpKind::ttg_async_copy_global_to_local,
       {one("source"), one("destination"), opt("mask"), opt("other")}},
      {OpKind::ttg_async_commit_group, {many("tokens")}},
      {OpKind::ttg_async_wait, {many("tokens")}},
      {OpKind::ttg_warp_specialize, {many("captures")}},
      {OpKind::ttng_warp_group_dot, {one("a"), one("b"), one("c"), opt("use_c")}},
      {OpKind::ttng_warp_group_dot_wait, {many("inputs")}},
      {OpKind::ttng_tc_gen5_mma,
       {one("a"), one("b"), one("d"), opt("token"), one("use_d"), one("pred"), many("barriers"),
        many("barrier_preds")}},
      {OpKind::ttng_tc_gen5_mma_scaled,
       {one("a"), one("b"), one("d"), opt("token"), one("a_scale"), one("b_scale"), one("use_d"),
        one("pred"), many("barriers"), many("barrier_preds")}},
      {OpKind::ttng_tc_gen5_commit, {one("barrier"), opt("pred")}},
      {OpKind::ttng_tmem_alloc, {opt("source")}},
      {OpKind::ttng_tmem_load, {one("source"), opt("token")}},
      {OpKind::ttng_tmem_store, {one("destination"), opt("token"), one("source"), one("pred")}},
      {OpKind::ttng_tmem_copy, {one("source"), one("destination"), opt("barrier")}},
      {OpKind::ttng_init_barrier, {one("barrier")}},
      {OpKind::ttng_inval_barrier, {one("barrier")}},
      {OpKind::ttng_barrier_expect, {one("barrier"), one("pred")}},
      {OpKind::ttng_wait_barrier, {one("barrier"), one("phase"), opt("pred"), many("deps")}},
      {OpKind::ttng_arrive_barrier, {one("barrier"), opt("pred")}},
      {OpKind::ttng_async_tma_copy_global_to_local,
       {one("desc"), many("indices"), one("barrier"), one("destination"), one("pred")}},
      {OpKind::ttng_async_tma_copy_local_to_global, {one("desc"), many("indices"), one("source")}},
      {OpKind::ttng_async_tma_reduce, {one("desc"), many("indices"), one("source")}},
      {OpKind::ttng_tensormap_create,
       {one("desc"), one("base"), many("box"), many("shape"), many("strides"),
        many("element_strides")}},
      {OpKind::ttng_async_tma_gather,
       {one("desc"), one("x_offsets"), one("y_offset"), one("barrier"), one("destination"),
        one("pred")}},
      {OpKind::ttng_async_tma_scatter,
       {one("desc"), one("x_offsets"), one("y_offset"), one("source")}},
  };
  return kTable;
}

/// Roles per kind, indexed by kind.
const std::vector<std::span<const Role>>& roles_by_kind() {
  static const auto kRoles = [] {
    std::vector<std::span<const Role>> roles(256);
    for (const Entry& entry : table()) roles[static_cast<std::size_t>(entry.kind)] = entry.roles;
    return roles;
  }();
  return kRoles;
}

std::optional<ValueId> result_of_kind(const Op& op, std::size_t index) {
  return index < op.results.size() ? std::optional(op.results[index]) : std::nullopt;
}

MmaOperands register_mma(const Op& op, ValueId a, ValueId b, ValueId c) {
  MmaOperands mma;
  mma.a = a;
  mma.b = b;
  mma.accumulator = c;
  mma.result = result_of_kind(op, 0);
  mma.use_accumulator = operand_in(op, "use_c");
  mma.asynchronous = integer_attribute(op, "isAsync").value_or(0) != 0;
  return mma;
}

MmaOperands tensor_memory_mma(const Op& op, ValueId a, ValueId b, ValueId d) {
  MmaOperands mma;
  mma.a = a;
  mma.b = b;
  mma.accumulator = d;
  mma.use_accumulator = operand_in(op, "use_d");
  mma.predicate = operand_in(op, "pred");
  mma.token_in = operand_in(op, "token");
  mma.token_out = result_of_kind(op, 0);
  mma.barriers = operands_in(op, "barriers");
  mma.barrier_predicates = operands_in(op, "barrier_preds");
  mma.asynchronous = attribute(op, "is_async") != nullptr;
  mma.two_ctas = attribute(op, "two_ctas") != nullptr;
  return mma;
}

/// What kind of access an op is, and which role holds the address.
struct Access {
  OpKind kind;
  AccessSpace space;
  bool reads;
  bool writes;
  std::string_view address;
  bool by_descriptor;
  bool asynchronous;
};

constexpr std::array kAccesses = {
    Access{OpKind::tt_load, AccessSpace::global, true, false, "ptr", false, false},
    Access{OpKind::tt_store, AccessSpace::global, false, true, "ptr", false, false},
    Access{OpKind::tt_atomic_rmw, AccessSpace::global, true, true, "ptr", false, false},
    Access{OpKind::tt_atomic_cas, AccessSpace::global, true, true, "ptr", false, false},
    Access{OpKind::tt_descriptor_load, AccessSpace::global, true, false, "desc", true, false},
    Access{OpKind::tt_descriptor_gather, AccessSpace::global, true, false, "desc", true, false},
    Access{OpKind::tt_descriptor_store, AccessSpace::global, false, true, "desc", true, false},
    Access{OpKind::tt_descriptor_scatter, AccessSpace::global, false, true, "desc", true, false},
    Access{OpKind::tt_descriptor_reduce, AccessSpace::global, true, true, "desc", true, false},
    Access{OpKind::ttg_async_copy_global_to_local, AccessSpace::global, true, false, "source",
           false, true},
    Access{OpKind::ttng_async_tma_copy_global_to_local, AccessSpace::global, true, false, "desc",
           true, true},
    Access{OpKind::ttng_async_tma_gather, AccessSpace::global, true, false, "desc", true, true},
    Access{OpKind::ttng_async_tma_copy_local_to_global, AccessSpace::global, false, true, "desc",
           true, true},
    Access{OpKind::ttng_async_tma_scatter, AccessSpace::global, false, true, "desc", true, true},
    Access{OpKind::ttng_async_tma_reduce, AccessSpace::global, true, true, "desc", true, true},
    Access{OpKind::ttg_local_load, AccessSpace::shared, true, false, "source", false, false},
    Access{OpKind::ttg_local_store, AccessSpace::shared, false, true, "destination", false, false},
    Access{OpKind::ttg_local_alloc, AccessSpace::shared, false, true, "", false, false},
    Access{OpKind::ttng_tmem_load, AccessSpace::tensor, true, false, "source", false, false},
    Access{OpKind::ttng_tmem_store, AccessSpace::tensor, false, true, "destination", false, false},
    Access{OpKind::ttng_tmem_alloc, AccessSpace::tensor, false, true, "", false, false},
};

const Access* access_of(OpKind kind) {
  for (const Access& access : kAccesses) {
    if (access.kind == kind) return &access;
  }
  return nullptr;
}

/// Fills what an access produces: a tile, and after it (or alone) a token.
void add_results(const Op& op, const Access& access, MemoryAccess& found) {
  const bool allocates = access.address.empty();
  const bool only_token =
      op.kind == OpKind::ttng_tmem_store || op.kind == OpKind::ttg_async_copy_global_to_local;
  if (only_token) {
    found.token_out = result_of_kind(op, 0);
    return;
  }
  if (access.reads && !allocates && op.kind != OpKind::tt_descriptor_reduce) {
    found.result = result_of_kind(op, 0);
  }
  found.token_out = result_of_kind(op, 1);
}

}  // namespace

std::span<const Role> roles_of(OpKind kind) {
  return roles_by_kind()[static_cast<std::size_t>(kind)];
}

std::span<const ValueId> operands_in(const Op& op, std::string_view role) {
  const std::span<const Role> roles = roles_of(op.kind);
  const auto sizes = operand_segments(op);
  if (!sizes) return {};
  std::size_t first = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].name == role) return std::span(op.operands).subspan(first, (*sizes)[i]);
    first += (*sizes)[i];
  }
  return {};
}

std::optional<ValueId> operand_in(const Op& op, std::string_view role) {
  const std::span<const ValueId> found = operands_in(op, role);
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

bool has_segment_sizes(OpKind kind) {
  // Their variadic operands all have the same number of elements.
  if (kind == OpKind::tt_make_tensor_ptr || kind == OpKind::tt_make_tensor_descriptor) return false;
  int open = 0;
  for (const Role& role : roles_of(kind)) open += role.arity == Arity::one ? 0 : 1;
  return open > 1;
}

std::optional<std::vector<std::size_t>> operand_segments(const Op& op) {
  const std::span<const Role> roles = roles_of(op.kind);
  const std::size_t count = op.operands.size();
  std::vector<std::size_t> sizes;
  if (const auto written = integers_attribute(op, "operandSegmentSizes")) {
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
  for (const Role& role : roles) fixed += role.arity == Arity::one ? 1 : 0;
  const std::size_t open = roles.size() - fixed;
  if (count < fixed || (open == 0 && count != fixed)) return std::nullopt;
  if (open > 0 && (count - fixed) % open != 0) return std::nullopt;
  const std::size_t each = open == 0 ? 0 : (count - fixed) / open;
  for (const Role& role : roles) {
    if (role.arity == Arity::optional && each > 1) return std::nullopt;
    sizes.push_back(role.arity == Arity::one ? 1 : each);
  }
  return sizes;
}

std::optional<MmaOperands> mma_operands(const Op& op) {
  const auto a = operand_in(op, "a");
  const auto b = operand_in(op, "b");
  if (!a || !b) return std::nullopt;
  if (const auto d = operand_in(op, "d")) {
    MmaOperands mma = tensor_memory_mma(op, *a, *b, *d);
    mma.a_scale = operand_in(op, "a_scale");
    mma.b_scale = operand_in(op, "b_scale");
    return mma;
  }
  const auto c = operand_in(op, "c");
  if (!c) return std::nullopt;
  MmaOperands mma = register_mma(op, *a, *b, *c);
  mma.a_scale = operand_in(op, "a_scale");
  mma.b_scale = operand_in(op, "b_scale");
  return mma;
}

std::optional<MemoryAccess> memory_access(const Op& op) {
  const Access* access = access_of(op.kind);
  if (access == nullptr) return std::nullopt;
  MemoryAccess found;
  found.space = access->space;
  found.reads = access->reads;
  found.writes = access->writes;
  found.by_descriptor = access->by_descriptor;
  found.asynchronous = access->asynchronous;
  const bool allocates = access->address.empty();
  const auto source =
      operand_in(op, access->kind == OpKind::tt_store || access->kind == OpKind::tt_atomic_rmw ||
                             access->kind == OpKind::tt_atomic_cas
                         ? "value"
                         : "source");
  const auto address = allocates ? result_of_kind(op, 0) : operand_in(op, access->address);
  if (!address || (allocates && !source)) return std::nullopt;
  found.address = *address;
  if (source && access->address != "source") found.source = source;
  found.coordinates = operands_in(op, "indices");
  found.mask = operand_in(op, "mask");
  found.other = operand_in(op, "other");
  found.destination = operand_in(op, "destination");
  if (found.destination == address) found.destination.reset();
  found.barrier = operand_in(op, "barrier");
  found.predicate = operand_in(op, "pred");
  found.token_in = operand_in(op, "token");
  add_results(op, *access, found);
  return found;
}

bool pads_with_nan(const Op& op) {
  constexpr std::int64_t kPadNan = 2;  // PAD_ZERO is 1
  return integer_attribute(op, "padding") == kPadNan;
}

std::optional<std::string_view> device_function(const Op& op) {
  constexpr std::string_view kPrefix = "__nv_";
  const auto symbol = string_attribute(op, "symbol");
  if (op.kind != OpKind::tt_extern_elementwise || !symbol) return std::nullopt;
  if (!symbol->starts_with(kPrefix)) return std::nullopt;
  return symbol->substr(kPrefix.size());
}

std::optional<Reduction> reduction(const Program& program, OpId id) {
  const Op& op = program.op(id);
  if (op.kind != OpKind::tt_reduce && op.kind != OpKind::tt_scan) return std::nullopt;
  const auto combine = body(program, id);
  const auto axis = integer_attribute(op, "axis");
  if (!combine || !axis || *axis < 0 || *axis > 16) return std::nullopt;
  Reduction found;
  found.sources = op.operands;
  found.axis = static_cast<int>(*axis);
  found.combine = *combine;
  found.is_scan = op.kind == OpKind::tt_scan;
  found.reverse = integer_attribute(op, "reverse").value_or(0) != 0;
  return found;
}

}  // namespace twill::ir
