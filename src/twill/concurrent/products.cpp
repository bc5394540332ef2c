#include <algorithm>

#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"
#include "twill/ir/operands.h"

/// Products, and copies to tensor memory in order with products.
namespace twill::concurrent {
namespace {

using execute::View;
using ir::OpKind;

}  // namespace

/// Checks that results of products in flight are only added to, waited for, or passed to other
/// blocks.
void Machine::check_in_flight(const Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  if (role.in_flight.empty()) return;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const auto found = role.in_flight.find(op.operands[i]);
    if (found == role.in_flight.end()) continue;
    if (role.known.done.covers(role.products.agent, found->second)) continue;
    const auto accumulator = ir::operand_in(op, ir::Role::accumulator);
    const bool adds = op.kind == OpKind::wgmma && accumulator == op.operands[i];
    const bool keeps =
        op.kind == OpKind::wgmma_wait || ir::class_of(op.kind) == ir::OpClass::structure;
    if (adds || keeps) continue;
    findings_.add({Rule::accumulator, id, std::nullopt,
                   "%" + program_.value(op.operands[i]).name + " is used by " + role.where() +
                       ", which has not waited for the product that makes it"});
  }
}

/// Begins a product of wgmma. Its operands in shared memory stay in use until a wait for the
/// product.
Result<void> Machine::multiply(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const auto operands = ir::mma_operands(op);
  if (!operands || !operands->result) return execute::cannot(program_, id, "is not known");
  tick(role);
  ++role.products.issued;
  for (const ir::ValueId operand : {operands->a, operands->b}) {
    const View* view = std::get_if<View>(&role.values.value(operand));
    if (view != nullptr) ledger_.read(*view, access_by(role, id, role.products), role.known);
  }
  if (op.asynchronous) {
    role.in_flight[*operands->result] = role.products.issued;
  } else {
    role.known.done.advance(role.products.agent, role.products.issued);
    role.in_flight.clear();
  }
  return options_.tiles ? role.values.step(id) : Result<void>();
}

Result<void> Machine::await_products(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const auto open = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      op.count.value_or(0), 0, static_cast<std::int64_t>(role.products.issued)));
  role.known.done.advance(role.products.agent, role.products.issued - open);
  forward(role, op.operands, op.results);
  return {};
}

/// Begins a product of tcgen05. Its operands stay in use, and its sum is incomplete, until an
/// mbarrier completes.
Result<void> Machine::begin_product(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const ir::Op& op = program_.op(id);
  const auto operands = ir::mma_operands(op);
  if (!operands) return execute::cannot(program_, id, "is not known");
  TWILL_TRY(const bool skip, skipped(role, id));
  if (skip) return {};
  tick(role);
  Work work = next_in(role.tensor, Work::Kind::product, index, id);
  const Access access = access_by(role, id, role.tensor);
  for (const auto& operand : {std::optional(operands->a), std::optional(operands->b),
                              operands->a_scale, operands->b_scale}) {
    if (!operand) continue;
    TWILL_TRY(const View view, view_of(role, id, *operand));
    ledger_.read(view, access, role.known);
  }
  TWILL_TRY(const View sums, view_of(role, id, operands->accumulator));
  std::int64_t adds = 1;
  if (operands->use_accumulator) {
    TWILL_TRY(adds, role.values.integer(id, *operands->use_accumulator));
  }
  if (adds != 0) ledger_.read(sums, access, role.known);
  ledger_.write(sums, access, role.known);
  work.known = role.known;
  work.known.done.advance(role.tensor.agent, work.time);
  work.visit = visit_of(role, id);
  work.amount = 1;
  for (std::size_t i = 0; i < operands->barriers.size(); ++i) {
    std::int64_t holds = 1;
    if (i < operands->barrier_predicates.size()) {
      TWILL_TRY(holds, role.values.integer(id, operands->barrier_predicates[i]));
    }
    if (holds == 0) continue;
    TWILL_TRY(const Barrier* const barrier, barrier_of(role, id, operands->barriers[i]));
    if (barrier == nullptr) return {};
    TWILL_TRY(View at, view_of(role, id, operands->barriers[i]));
    work.barriers.push_back(std::move(at));
  }
  const bool waits = operands->barriers.empty() && !op.asynchronous;
  add_work(std::move(work));
  if (!waits) return {};
  return drain_queue(index, Work::Kind::product, role.tensor, role.tensor.issued);
}

/// Begins a copy from shared to tensor memory, in order with the role's products.
Result<void> Machine::begin_tensor_copy(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const ir::Op& op = program_.op(id);
  const auto source = ir::operand_in(op, ir::Role::source);
  const auto destination = ir::operand_in(op, ir::Role::destination);
  if (!source || !destination) return execute::cannot(program_, id, "is not known");
  tick(role);
  Work work = next_in(role.tensor, Work::Kind::product, index, id);
  work.amount = 1;
  const Access access = access_by(role, id, role.tensor);
  TWILL_TRY(const View from, view_of(role, id, *source));
  ledger_.read(from, access, role.known);
  TWILL_TRY(const View to, view_of(role, id, *destination));
  ledger_.write(to, access, role.known);
  work.known = role.known;
  work.known.done.advance(role.tensor.agent, work.time);
  work.visit = visit_of(role, id);
  if (const auto barrier = ir::operand_in(op, ir::Role::barrier)) {
    TWILL_TRY(const Barrier* const there, barrier_of(role, id, *barrier));
    if (there == nullptr) return {};
    TWILL_TRY(View at, view_of(role, id, *barrier));
    work.barriers.push_back(std::move(at));
  }
  add_work(std::move(work));
  return {};
}

}  // namespace twill::concurrent
