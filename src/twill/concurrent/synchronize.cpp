#include <algorithm>

#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"
#include "twill/ir/operands.h"

/// Mbarriers, fences, and waits of a role for work that it began.
namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::int64_t kLanes = 32;

}  // namespace

void Machine::tick(Role& role) { role.known.done.advance(role.agent, ++role.time); }

Visit Machine::visit_of(const Role& role, ir::OpId op) const {
  return {role.agent, role.time, op, role.whereabouts()};
}

/// View of the memory where an op expects an mbarrier.
Result<execute::View> Machine::mbarrier_at(const Role& role, ir::OpId op, ir::ValueId value) const {
  TWILL_TRY(execute::View view, view_of(role, op, value));
  if (view.as) {
    return execute::cannot(program_, op,
                           "uses an mbarrier in memory that is looked at with another type");
  }
  return view;
}

/// Finds the mbarrier; null, with a finding, if there is none: the run ends there.
Result<Barrier*> Machine::barrier_of(const Role& role, ir::OpId op, ir::ValueId value) {
  TWILL_TRY(const execute::View view, mbarrier_at(role, op, value));
  Barrier* barrier = barriers_.find(view);
  if (barrier != nullptr) {
    const Visit& made = barrier->made;
    if (!role.known.done.covers(made.agent, made.time)) {
      findings_.add({Rule::barrier, op, made.op,
                     barrier->name + " is used by " + role.where() +
                         ", which does not know that it has been initialized by " + *made.by});
    }
    return barrier;
  }
  findings_.add({Rule::barrier, op, std::nullopt,
                 ledger_.name(view) + " is no mbarrier when " + role.where() + " uses it"});
  stopped_ = true;
  return nullptr;
}

/// Whether the op may go on: false only for a wait whose phase is not complete.
Result<bool> Machine::may_pass(const Role& role, ir::OpId id) const {
  const ir::Op& op = program_.op(id);
  if (role.synchronizes) {
    return named_barrier(role.synchronizes->first).completed > role.synchronizes->second;
  }
  if (op.kind != OpKind::barrier_wait) return true;
  TWILL_TRY(const bool skip, skipped(role, id));
  const auto value = ir::operand_in(op, ir::Role::barrier);
  const auto phase = ir::operand_in(op, ir::Role::phase);
  if (!value || !phase) return execute::cannot(program_, id, "is not known");
  if (skip) return true;
  TWILL_TRY(const execute::View view, mbarrier_at(role, id, *value));
  TWILL_TRY(const std::int64_t parity, role.values.integer(id, *phase));
  const auto found = barriers_.all().find({view.storage.get(), view.offset});
  return found == barriers_.all().end() || Barriers::passes(found->second, parity);
}

Result<bool> Machine::synchronize(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  switch (program_.op(id).kind) {
    case OpKind::barrier_init: {
      TWILL_TRY_VOID(init_barrier(role, id));
      return true;
    }
    case OpKind::barrier_end: {
      TWILL_TRY_VOID(end_barrier(role, id));
      return true;
    }
    case OpKind::barrier_expect:
    case OpKind::barrier_arrive:
    case OpKind::barrier_wait: {
      TWILL_TRY_VOID(visit_barrier(role, id));
      return true;
    }
    case OpKind::inline_asm:
      return assemble(index, id);
    case OpKind::proxy_fence:
      role.known.visible.join(role.known.done);
      return true;
    case OpKind::copy_arrive:
    case OpKind::tcgen05_commit: {
      TWILL_TRY_VOID(arrive_later(index, id));
      return true;
    }
    case OpKind::copy_commit:
      role.copy_groups.push_back(role.copies.issued);
      return true;
    case OpKind::copy_wait:
    case OpKind::block_store_wait: {
      TWILL_TRY_VOID(drain(index, id));
      return true;
    }
    default:
      return ir::class_of(program_.op(id).kind) == ir::OpClass::synchronization ||
             ir::class_of(program_.op(id).kind) == ir::OpClass::remark;
  }
}

Result<void> Machine::init_barrier(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const auto value = ir::operand_in(op, ir::Role::barrier);
  if (!value) return execute::cannot(program_, id, "is not known");
  if (!op.count || *op.count < 1)
    return execute::cannot(program_, id, "needs a number of arrivals");
  TWILL_TRY(const execute::View view, mbarrier_at(role, id, *value));
  tick(role);
  if (const Barrier* before = barriers_.find(view)) {  // undefined (PTX ISA, mbarrier.init)
    findings_.add({Rule::barrier, id, before->made.op,
                   before->name + " is initialized by " + role.where() +
                       ", and has been an mbarrier since line " +
                       std::to_string(program_.op(before->made.op).line)});
  }
  barriers_.init(view, ledger_.name(view), visit_of(role, id), *op.count, agents_++);
  return {};
}

/// Whether some role has no knowledge of the barrier's initialization.
bool Machine::is_new(const Barrier& barrier) const {
  return std::any_of(roles_.begin(), roles_.end(), [&](const Role& role) {
    return !role.ended() && !role.known.done.covers(barrier.made.agent, barrier.made.time);
  });
}

/// Invalidates a barrier, at which no copy may land any more. Products in tensor memory may still
/// arrive: Triton itself invalidates before its wait for the last of them. Triton does not reuse
/// the place before that wait.
Result<void> Machine::end_barrier(Role& role, ir::OpId id) {
  const auto value = ir::operand_in(program_.op(id), ir::Role::barrier);
  if (!value) return execute::cannot(program_, id, "is not known");
  TWILL_TRY(const execute::View view, mbarrier_at(role, id, *value));
  const auto comes = [&](const execute::View& at) {
    return at.storage == view.storage && at.offset == view.offset;
  };
  for (const Work& work : work_) {
    const bool is_product = ir::mma_operands(program_.op(work.op)).has_value();
    if (is_product || std::none_of(work.barriers.begin(), work.barriers.end(), comes)) continue;
    findings_.add({Rule::barrier, id, work.op,
                   ledger_.name(view) + " is invalidated by " + role.where() + " while what " +
                       *work.visit.by + " began will arrive there"});
  }
  tick(role);
  barriers_.end(view, visit_of(role, id), role.known);
  return {};
}

Result<void> Machine::visit_barrier(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  TWILL_TRY(const bool skip, skipped(role, id));
  const auto value = ir::operand_in(op, ir::Role::barrier);
  if (!value) return execute::cannot(program_, id, "is not known");
  if (skip) return {};
  TWILL_TRY(Barrier* const barrier, barrier_of(role, id, *value));
  if (barrier == nullptr) return {};
  tick(role);
  if (op.kind == OpKind::barrier_wait) {
    barriers_.pass(*barrier, visit_of(role, id), role.known);
    return {};
  }
  if (op.kind == OpKind::barrier_expect) barriers_.expect(*barrier, op.count.value_or(0));
  const std::int64_t arrivals = op.kind == OpKind::barrier_expect ? 1 : op.count.value_or(1);
  barriers_.arrive(*barrier, visit_of(role, id), arrivals, role.known);
  return {};
}

/// Arrives when the work that the role began so far has ended. For copies by threads each thread
/// arrives; products in tensor memory arrive once.
Result<void> Machine::arrive_later(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const ir::Op& op = program_.op(id);
  TWILL_TRY(const bool skip, skipped(role, id));
  const auto value = ir::operand_in(op, ir::Role::barrier);
  if (!value) return execute::cannot(program_, id, "is not known");
  if (skip) return {};
  TWILL_TRY(Barrier* const barrier, barrier_of(role, id, *value));
  if (barrier == nullptr) return {};
  const bool copies = op.kind == OpKind::copy_arrive;
  tick(role);
  Work work;
  work.kind = copies ? Work::Kind::copy_arrival : Work::Kind::product_arrival;
  work.role = index;
  work.op = id;
  work.time = copies ? role.copies.issued : role.tensor.issued;
  work.amount = copies ? (op.is_counted ? kLanes * role.warps : 0) : 1;
  work.known = role.known;
  work.known.done.advance(copies ? role.copies.agent : role.tensor.agent, work.time);
  work.visit = visit_of(role, id);
  TWILL_TRY(execute::View view, view_of(role, id, *value));
  work.barriers.push_back(std::move(view));
  add_work(std::move(work));
  return {};
}

/// Waits until at most `count` groups of the role's work are in flight.
Result<void> Machine::drain(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const std::int64_t open = program_.op(id).count.value_or(0);
  const bool copies = program_.op(id).kind == OpKind::copy_wait;
  const std::vector<std::uint32_t>& groups = copies ? role.copy_groups : role.store_groups;
  if (open < 0 || open >= static_cast<std::int64_t>(groups.size())) return {};
  const std::uint32_t until = groups[groups.size() - 1 - static_cast<std::size_t>(open)];
  const Queue& queue = copies ? role.copies : role.stores;
  return drain_queue(index, copies ? Work::Kind::copy : Work::Kind::store, queue, until);
}

/// Lets the role's work of one kind land, up to a time.
Result<void> Machine::drain_queue(std::size_t index, Work::Kind kind, const Queue& queue,
                                  std::uint32_t until) {
  for (std::size_t i = 0; i < work_.size();) {
    const Work& work = work_[i];
    if (work.role == index && work.kind == kind && work.time <= until) {
      TWILL_TRY_VOID(land(i));
    } else {
      ++i;
    }
  }
  roles_[index].known.done.advance(queue.agent, until);
  return {};
}

}  // namespace twill::concurrent
