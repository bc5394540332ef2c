#include <algorithm>

#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/slices.h"
#include "twill/ir/operands.h"

/// Accesses to memory, at once or asynchronously.
namespace twill::concurrent {
namespace {

using execute::View;
using ir::OpKind;

constexpr std::int64_t kMostElements = std::int64_t{1} << 22;  ///< most of a buffer on the chip

bool is_unknown(const execute::Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

bool orders_or_touches(ir::OpClass of) {
  return of == ir::OpClass::synchronization || of == ir::OpClass::copy ||
         of == ir::OpClass::store || of == ir::OpClass::update || of == ir::OpClass::product ||
         of == ir::OpClass::allocation || of == ir::OpClass::other;
}

/// Whether an op may touch memory or order roles in a way outside of the model.
bool is_foreign(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (op.kind == OpKind::other || op.kind == OpKind::call) return true;
  if (op.kind != OpKind::unmodelled) return false;
  const auto inside = ir::walk(program, id);
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [&](ir::ValueId operand) {
                       return ir::type_of(program, operand)->kind == ir::TypeKind::memdesc;
                     }) ||
         std::any_of(inside.begin(), inside.end(), [&](ir::OpId inner) {
           return inner != id && orders_or_touches(ir::class_of(program.op(inner).kind));
         });
}

/// Whether a quotient or a remainder has divisor 0, for which the hardware gives an arbitrary
/// number.
bool divides_by_zero(const Role& role, ir::OpId id) {
  const ir::Op& op = role.values.program().op(id);
  const bool divides = op.kind == OpKind::sdiv || op.kind == OpKind::udiv ||
                       op.kind == OpKind::srem || op.kind == OpKind::urem;
  return divides && role.values.integer(id, op.operands[1]).value_or(1) == 0;
}

}  // namespace

Result<View> Machine::view_of(const Role& role, ir::OpId op, ir::ValueId value) const {
  const View* view = std::get_if<View>(&role.values.value(value));
  if (view == nullptr) return execute::cannot(program_, op, "needs memory that was not allocated");
  return *view;
}

/// Whether the op's predicate is false.
Result<bool> Machine::skipped(const Role& role, ir::OpId op) const {
  const auto predicate = ir::operand_in(program_.op(op), ir::Role::predicate);
  if (!predicate) return false;
  TWILL_TRY(const std::int64_t holds, role.values.integer(op, *predicate));
  return holds == 0;
}

Access Machine::access_by(Role& role, ir::OpId op) const {
  role.known.done.advance(role.agent, ++role.time);
  return {role.agent, role.time, false, Proxy::generic, op, role.whereabouts()};
}

Access Machine::access_by(const Role& role, ir::OpId op, const Queue& queue) const {
  return {queue.agent, queue.issued, true, Proxy::async, op, role.whereabouts()};
}

Result<bool> Machine::transfer(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  switch (program_.op(id).kind) {
    case OpKind::shared_alloc:
    case OpKind::tensor_alloc: {
      TWILL_TRY_VOID(allocate(role, id));
      return true;
    }
    case OpKind::buffer_index:
    case OpKind::buffer_slice:
    case OpKind::buffer_transpose:
    case OpKind::tensor_slice: {
      TWILL_TRY_VOID(view(role, id));
      return true;
    }
    case OpKind::buffer_reshape:
    case OpKind::buffer_cast: {
      TWILL_TRY_VOID(look_otherwise(role, id));
      return true;
    }
    case OpKind::shared_load:
    case OpKind::shared_store:
    case OpKind::tensor_load:
    case OpKind::tensor_store: {
      TWILL_TRY_VOID(access(role, id));
      return true;
    }
    case OpKind::wgmma: {
      TWILL_TRY_VOID(multiply(role, id));
      return true;
    }
    case OpKind::wgmma_wait: {
      TWILL_TRY_VOID(await_products(role, id));
      return true;
    }
    case OpKind::block_load_async:
    case OpKind::block_gather_async: {
      TWILL_TRY_VOID(begin_load(index, id));
      return true;
    }
    case OpKind::copy_async: {
      TWILL_TRY_VOID(begin_copy(index, id));
      return true;
    }
    case OpKind::block_store_async:
    case OpKind::block_scatter_async:
    case OpKind::block_update_async: {
      TWILL_TRY_VOID(begin_store(index, id));
      return true;
    }
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled: {
      TWILL_TRY_VOID(begin_product(index, id));
      return true;
    }
    case OpKind::tensor_copy: {
      TWILL_TRY_VOID(begin_tensor_copy(index, id));
      return true;
    }
    default:
      return false;
  }
}

Result<void> Machine::allocate(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const ir::Type type = ir::type_of(program_, op.results[0]);
  const std::int64_t elements = ir::element_count(type);
  if (elements < 0) return execute::cannot(program_, id, "has no known size");
  if (elements > kMostElements) return execute::cannot(program_, id, "is larger than any memory");
  const bool floating = type->element->kind == ir::TypeKind::floating;
  const auto storage =
      std::make_shared<execute::TileMemory>(execute::poison(type->shape, floating), type);
  const View all{storage, 0, type->shape, execute::strides_of(type->shape)};
  role.values.set(op.results[0], all);
  const Space space = op.kind == OpKind::tensor_alloc ? Space::tensor : Space::shared;
  ledger_.add(storage, program_.value(op.results[0]).name, space);
  allocated_[id] = storage.get();
  const auto source = ir::operand_in(op, ir::Role::source);
  if (!source) return {};
  Access access = access_by(role, id);
  access.number = stored_number(role, *source);
  ledger_.write(all, access, role.known);
  if (!has_tiles(id)) return {};
  TWILL_TRY(const execute::TilePtr tile, role.values.tile(id, *source));
  execute::write(all, *tile);
  return {};
}

/// Makes a view of a part of a buffer; the part must lie within the buffer.
Result<void> Machine::view(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  if (op.operands.empty() || op.results.empty()) {
    return execute::cannot(program_, id, "takes no part of anything");
  }
  TWILL_TRY(const View from, view_of(role, id, op.operands[0]));
  std::string outside;
  if (op.kind == OpKind::buffer_index && op.operands.size() > 1 && !from.shape.empty()) {
    TWILL_TRY(const std::int64_t slot, role.values.integer(id, op.operands[1]));
    if (slot < 0 || slot >= from.shape[0]) {
      outside = "slot " + std::to_string(slot) + " of " + std::to_string(from.shape[0]);
    }
  }
  const auto& shape = ir::type_of(program_, op.results[0])->shape;
  const auto offsets = execute::slice_offsets(program_, op);
  if (offsets && offsets->size() == from.shape.size()) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t begin = (*offsets)[d];
      if (begin >= 0 && begin + shape[d] <= from.shape[d]) continue;
      outside = "[" + std::to_string(begin) + ", " + std::to_string(begin + shape[d]) + ") of " +
                std::to_string(from.shape[d]) + " in dimension " + std::to_string(d);
    }
  }
  if (outside.empty()) return role.values.step(id);
  findings_.add({Rule::bounds, id, std::nullopt,
                 role.where() + " takes " + outside + " in " + ledger_.name(from)});
  stopped_ = true;
  return {};
}

/// Makes a view of the same memory with another type or shape.
Result<void> Machine::look_otherwise(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  if (op.operands.empty() || op.results.empty()) {
    return execute::cannot(program_, id, "takes no part of anything");
  }
  TWILL_TRY(const View from, view_of(role, id, op.operands[0]));
  const ir::Type type = ir::type_of(program_, op.results[0]);
  const bool reshapes = op.kind == OpKind::buffer_reshape;
  const auto other = reshapes ? execute::reshaped(from, type) : execute::cast(from, type);
  if (!other) {
    return execute::cannot(program_, id, "looks at memory with a layout that is not known");
  }
  if (other->as == from.as) {
    role.values.set(op.results[0], *other);
    return {};
  }
  ledger_.record_bytes(from);
  const std::int64_t has = execute::byte_ranges(from).back().end;
  const std::int64_t needs = execute::byte_ranges(*other).back().end;
  role.values.set(op.results[0], *other);
  if (needs <= has) return {};
  findings_.add({Rule::bounds, id, std::nullopt,
                 role.where() + " takes " + std::to_string(needs - has) +
                     " bytes more than there are in " + ledger_.name(from)});
  stopped_ = true;
  return {};
}

/// Executes loads and stores of tiles by threads.
Result<void> Machine::access(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  TWILL_TRY(const bool skip, skipped(role, id));
  const auto address = ir::operand_in(op, ir::Role::address);
  if (!address) return execute::cannot(program_, id, "is not known");
  if (!skip) {
    TWILL_TRY(const View view, view_of(role, id, *address));
    Access access = access_by(role, id);
    if (ir::class_of(op.kind) == ir::OpClass::store) {
      const auto source = ir::operand_in(op, ir::Role::source);
      if (source) access.number = stored_number(role, *source);
      ledger_.write(view, access, role.known);
    } else {
      ledger_.read(view, access, role.known);
      if (options_.guide != nullptr) follow_load(role, op.results[0], view);
    }
  }
  return has_tiles(id) ? role.values.step(id) : Result<void>();
}

Machine::Work Machine::next_in(Queue& queue, Work::Kind kind, std::size_t role, ir::OpId op) {
  Work work;
  work.kind = kind;
  work.role = role;
  work.op = op;
  work.time = ++queue.issued;
  return work;
}

void Machine::add_work(Work work) {
  for (const ir::ValueId value : program_.op(work.op).operands) {
    if (!has_tiles(work.op)) break;
    work.operands[value] = roles_[work.role].values.value(value);
  }
  work_.push_back(std::move(work));
}

/// Begins a bulk load, whose bytes are counted at an mbarrier.
Result<void> Machine::begin_load(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const auto access = ir::memory_access(program_.op(id));
  if (!access || !access->destination || !access->barrier) {
    return execute::cannot(program_, id, "is not known");
  }
  TWILL_TRY(const bool skip, skipped(role, id));
  if (skip) return {};
  TWILL_TRY(Barrier* const barrier, barrier_of(role, id, *access->barrier));
  if (barrier == nullptr) return {};
  TWILL_TRY(const View view, view_of(role, id, *access->destination));
  tick(role);
  Work work;
  work.kind = Work::Kind::load;
  work.role = index;
  work.op = id;
  work.visit = visit_of(role, id);
  work.time = barriers_.announce(*barrier, work.visit, role.known);
  work.visit.agent = barrier->agent;
  work.visit.time = work.time;
  ledger_.write(view, {barrier->agent, work.time, false, Proxy::async, id, work.visit.by},
                role.known);
  loads_.emplace_back(work.visit, ledger_.name(view));
  work.amount = ir::byte_size(ir::type_of(program_, *access->destination));
  work.known = role.known;
  TWILL_TRY(View at, view_of(role, id, *access->barrier));
  work.barriers.push_back(std::move(at));
  add_work(std::move(work));
  return {};
}

/// Begins a copy by threads (cp.async).
Result<void> Machine::begin_copy(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const auto access = ir::memory_access(program_.op(id));
  if (!access || !access->destination) return execute::cannot(program_, id, "is not known");
  TWILL_TRY(const View view, view_of(role, id, *access->destination));
  tick(role);
  Work work = next_in(role.copies, Work::Kind::copy, index, id);
  Access written = access_by(role, id, role.copies);
  written.in_order = false;
  written.proxy = Proxy::generic;
  ledger_.write(view, written, role.known);
  add_work(std::move(work));
  return {};
}

/// Begins a bulk store, also one that reduces. Its source in shared memory stays in use until a
/// wait for the store.
Result<void> Machine::begin_store(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const auto access = ir::memory_access(program_.op(id));
  if (!access || !access->source) return execute::cannot(program_, id, "is not known");
  TWILL_TRY(const View view, view_of(role, id, *access->source));
  tick(role);
  Work work = next_in(role.stores, Work::Kind::store, index, id);
  role.store_groups.push_back(role.stores.issued);
  ledger_.read(view, access_by(role, id, role.stores), role.known);
  add_work(std::move(work));
  return {};
}

/// Whether the work may land. Bulk loads land in any order; other work lands after earlier work of
/// its kind by the same role.
bool Machine::may_land(std::size_t index) const {
  const Work& work = work_[index];
  using Kind = Work::Kind;
  const auto queue = [](Kind kind) {
    return kind == Kind::copy_arrival      ? Kind::copy
           : kind == Kind::product_arrival ? Kind::product
                                           : kind;
  };
  if (work.kind == Kind::load) return true;
  for (std::size_t i = 0; i < index; ++i) {
    if (work_[i].role == work.role && queue(work_[i].kind) == queue(work.kind)) return false;
  }
  return true;
}

/// Lets the work land, and arrive at its mbarriers.
Result<void> Machine::land(std::size_t index) {
  const Work work = std::move(work_[index]);
  work_.erase(work_.begin() + static_cast<std::ptrdiff_t>(index));
  using Kind = Work::Kind;
  const bool arrives = work.kind == Kind::copy_arrival || work.kind == Kind::product_arrival;
  if (has_tiles(work.op) && !arrives) {
    for (const auto& [value, what] : work.operands) scratch_.set(value, what);
    TWILL_TRY_VOID(scratch_.step(work.op));
  }
  for (const View& view : work.barriers) {
    Barrier* barrier = barriers_.find(view);
    if (barrier == nullptr) continue;
    if (work.kind == Kind::load) {
      barriers_.land(*barrier, work.visit, work.amount, work.known);
    } else if (work.amount > 0) {
      barriers_.arrive(*barrier, work.visit, work.amount, work.known);
    }
  }
  return {};
}

/// Executes all other ops: arithmetic, and accesses to global memory.
Result<void> Machine::compute(Role& role, ir::OpId id) {
  if (is_foreign(program_, id)) return execute::cannot(program_, id, "is not known");
  if (has_tiles(id)) return role.values.step(id);
  if (options_.guide != nullptr) return compute_needed(role, id);
  const ir::Op& op = program_.op(id);
  bool known = !op.results.empty();
  for (const ir::ValueId operand : op.operands) {
    known = known && !is_unknown(role.values.value(operand));
  }
  for (const ir::ValueId result : op.results) {
    known = known && ir::type_of(program_, result)->kind != ir::TypeKind::tensor;
  }
  const bool runs =
      ir::class_of(op.kind) != ir::OpClass::other || op.kind == OpKind::make_descriptor;
  if (known && runs && divides_by_zero(role, id)) {
    divided_by_zero_ = true;
    return execute::cannot(program_, id,
                           "divides by zero, with the arguments chosen: --arg gives others");
  }
  if (known && runs) return role.values.step(id);
  for (const ir::ValueId result : op.results) role.values.set(result, std::monostate());
  return {};
}

}  // namespace twill::concurrent
