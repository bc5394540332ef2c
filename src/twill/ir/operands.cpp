#include "twill/ir/operands.h"

namespace twill::ir {
namespace {

std::optional<ValueId> result_number(const Op& op, std::size_t index) {
  return index < op.results.size() ? std::optional(op.results[index]) : std::nullopt;
}

}  // namespace

std::span<const ValueId> operands_in(const Op& op, Role role) {
  for (const RoleOperands& it : op.roles) {
    if (it.role == role) return std::span(op.operands).subspan(it.first, it.count);
  }
  return {};
}

std::optional<ValueId> operand_in(const Op& op, Role role) {
  const std::span<const ValueId> found = operands_in(op, role);
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

std::optional<MmaOperands> mma_operands(const Op& op) {
  const auto a = operand_in(op, Role::a);
  const auto b = operand_in(op, Role::b);
  const auto accumulator = operand_in(op, Role::accumulator);
  if (!a || !b || !accumulator) return std::nullopt;
  const bool in_place = op.kind == OpKind::tcgen05 || op.kind == OpKind::tcgen05_scaled;
  MmaOperands mma;
  mma.a = *a;
  mma.b = *b;
  mma.accumulator = *accumulator;
  (in_place ? mma.token_out : mma.result) = result_number(op, 0);
  mma.use_accumulator = operand_in(op, Role::use_accumulator);
  mma.predicate = operand_in(op, Role::predicate);
  mma.token_in = operand_in(op, Role::token);
  mma.barriers = operands_in(op, Role::barriers);
  mma.barrier_predicates = operands_in(op, Role::barrier_predicates);
  mma.a_scale = operand_in(op, Role::a_scale);
  mma.b_scale = operand_in(op, Role::b_scale);
  mma.asynchronous = op.asynchronous;
  mma.two_ctas = op.two_ctas;
  return mma;
}

std::optional<MemoryAccess> memory_access(const Op& op) {
  if (!op.access) return std::nullopt;
  MemoryAccess found;
  found.space = op.access->space;
  found.reads = op.access->reads;
  found.writes = op.access->writes;
  found.by_descriptor = op.access->by_descriptor;
  found.asynchronous = op.access->asynchronous;
  found.source = operand_in(op, Role::source);
  const bool allocates = op.access->allocates;
  const auto address = allocates ? result_number(op, 0) : operand_in(op, Role::address);
  if (!address || (allocates && !found.source)) return std::nullopt;
  found.address = *address;
  found.coordinates = operands_in(op, Role::coordinates);
  found.rows = operand_in(op, Role::rows);
  found.mask = operand_in(op, Role::mask);
  found.other = operand_in(op, Role::fill);
  found.destination = operand_in(op, Role::destination);
  found.barrier = operand_in(op, Role::barrier);
  found.predicate = operand_in(op, Role::predicate);
  found.token_in = operand_in(op, Role::token);
  if (op.access->returns_tile) found.result = result_number(op, 0);
  found.token_out = result_number(op, op.access->returns_token ? 0 : 1);
  return found;
}

std::optional<std::string_view> device_function(const Op& op) {
  const bool calls = op.kind == OpKind::library_call && !op.symbol.empty();
  return calls ? std::optional(op.symbol) : std::nullopt;
}

std::optional<Reduction> reduction(const Program& program, OpId id) {
  const Op& op = program.op(id);
  if (class_of(op.kind) != OpClass::reduction) return std::nullopt;
  const auto combine = body(program, id);
  if (!combine || !op.axis || *op.axis < 0 || *op.axis > 16) return std::nullopt;
  Reduction found;
  found.sources = op.operands;
  found.axis = static_cast<int>(*op.axis);
  found.combine = *combine;
  found.is_scan = op.kind == OpKind::scan;
  found.reverse = op.reverse;
  return found;
}

}  // namespace twill::ir
