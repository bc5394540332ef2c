#include <algorithm>

#include <fmt/format.h>

#include "twill/device/role.h"
#include "twill/device/thread_copies.h"
#include "twill/dialect/register_layouts.h"

/// Steps of a role, one after the other.
namespace twill::device {

using plan::StepKind;

std::string RoleBuilder::remark(const plan::Step& step, At at) const {
  std::string text(plan::name_of(step.kind));
  if (step.op) text += " " + plan_.problem[*step.op].name;
  if (step.per_tile_op) text += " " + plan_.kernel->per_tile_ops[*step.per_tile_op].what;
  if (step.channel && !step.op && !step.per_tile_op) text += " " + plan_[*step.channel].name;
  if (step.kind == StepKind::fence) text += " " + std::string(plan::name_of(step.fence));
  if (step.kind == StepKind::drain_groups) {
    text += fmt::format(" {} to {}", plan::name_of(step.queue), step.pending);
  }
  const auto moved = [&](const char* from) {
    return at.offset == 0 ? fmt::format(" [{}]", from) : fmt::format(" [{}{:+d}]", from, at.offset);
  };
  if (at.from == At::From::first) text += fmt::format(" [{}]", at.offset);
  if (at.from == At::From::window) text += moved("n");
  if (at.from == At::From::last) text += moved("N");
  if (step.op) {
    const Cycles interval = plan_.schedule.initiation_interval;
    const Cycles issue = plan_.schedule.ops[step.op->index()].issue;
    text += fmt::format(", stage {}, cycle {}", issue / interval, issue % interval);
  }
  return text;
}

Result<void> RoleBuilder::step(const plan::Step& step) {
  const At where = at(step);
  const std::size_t mark = now_->size();
  part_ = step.op ? sketch_.origin(*step.op).part : -1;
  TWILL_TRY_VOID(take(step, where));
  if (step.op && (step.kind == StepKind::issue || step.kind == StepKind::compute)) {
    for (const auto& [unit, part] : sketch_.following(*step.op)) {
      TWILL_TRY_VOID(do_unit(unit, part, where));
    }
  }
  if (now_->size() > mark) {
    (*now_)[mark].remark = remark(step, where);
    (*now_)[mark].span = now_->size() - mark;
  }
  part_ = -1;
  return {};
}

/// Whether another channel that fills the same box has the same barriers.
bool RoleBuilder::is_joined(plan::ChannelId channel) const {
  return plan::first_to_sender(plan_, channel) != channel;
}

Result<void> RoleBuilder::take(const plan::Step& step, At where) {
  const bool tile = where.from == At::From::tile;
  if (step.drains_first) {
    return sketch_.refuse(sketch_.origin(*step.op).sources.front().op,
                          "runs in few of the iterations, which is not printed as TTGIR yet");
  }
  switch (step.kind) {
    case StepKind::acquire:
      acquire(step, where);
      return {};
    case StepKind::release:
      if (memory_.empty.contains(*step.channel) && !is_joined(*step.channel)) {
        arrive(memory_.empty.at(*step.channel), where, "empty");
      }
      return {};
    case StepKind::wait:
      if (is_joined(*step.channel)) return {};  // another wait covers it
      wait(memory_.full.at(*step.channel), where, false, "full");
      learn(*step.channel);
      return {};
    case StepKind::commit:
      return commit(*step.channel, where);
    case StepKind::expect:
      expect(*step.channel, where);
      return {};
    case StepKind::compute:
      return step.per_tile_op ? compute_per_tile(*step.per_tile_op) : compute(*step.op, where);
    case StepKind::issue:
      return step.per_tile_op ? issue_per_tile(step, where) : issue(step, where);
    case StepKind::stage:
      if (step.per_tile_op) return stage_per_tile(*step.per_tile_op);
      return stage(*step.op, where);
    case StepKind::drain_groups:
      if (step.queue == plan::Mechanism::wgmma) return drain(step.pending);
      wait_stores(step.pending);
      return {};
    case StepKind::fence:
      if (step.fence == plan::Fence::proxy && !(tile && behind_loop_)) fence();
      return {};
    case StepKind::pass:
    case StepKind::take:
      // Turns at the tensor core cost more as barriers of Triton than they save.
      return {};
    case StepKind::rendezvous:
      // Triton puts barriers where warps share a buffer, but none for global memory.
      if (order_.kept) emit(NodeKind::meet);
      return {};
    case StepKind::peek:
    case StepKind::leave:
      return {};
  }
  return {};
}

/// Does a branch of the loop, or an effect in the loop, as a whole.
Result<void> RoleBuilder::do_unit(ir::OpId unit, int part, At at) {
  std::vector<int> parts;
  for (int i = std::max(part, 0); i < (part < 0 ? sketch_.parts() : part + 1); ++i) {
    parts.push_back(i);
  }
  if (!is_region(program_.op(unit))) return act(unit, parts, at, part <= 0);
  return region_again(unit, parts, at, part <= 0);
}

/// Whether an op of the plan stands for a part of a branch, which is done as a whole. If so, does
/// the branch at the last such op.
Result<bool> RoleBuilder::compute_unit(OpId id, At at) {
  const extract::OpOrigin& origin = sketch_.origin(id);
  bool found = false;
  for (const extract::Source& source : origin.sources) {
    const Unit* const unit = sketch_.unit_of(source.op);
    if (unit == nullptr || unit->follows) continue;
    const ir::OpId top = sketch_.in_body(source.op);
    const auto last = unit->last.find(origin.part);
    if (!found && last != unit->last.end() && last->second == id) {
      TWILL_TRY_VOID(do_unit(top, origin.part, at));
    }
    found = true;
  }
  return found;
}

Result<void> RoleBuilder::compute(OpId id, At at) {
  const plan::Mechanism how = plan_.mechanisms[id.index()];
  const extract::OpOrigin& origin = sketch_.origin(id);
  const ir::OpId blamed = origin.sources.front().op;
  TWILL_TRY(const bool in_branch, compute_unit(id, at));
  if (in_branch) return {};
  if (how != plan::Mechanism::threads && how != plan::Mechanism::scoreboard) {
    return sketch_.refuse(blamed, "is computed by " + std::string(plan::name_of(how)));
  }
  TWILL_TRY(const bool forwarded, forward(id, at));
  if (forwarded) return {};
  for (const extract::Source& source : origin.sources) {
    const ir::Op& op = program_.op(source.op);
    if (op.kind == ir::OpKind::relayout || op.kind == ir::OpKind::wgmma_wait) continue;
    if (is_effect(program_, source.op)) {
      std::vector<int> parts = {origin.part};
      if (origin.part < 0 && cut_of_operands(source.op) >= 0) {
        TWILL_TRY(parts, parts_held(source.op));
      }
      TWILL_TRY_VOID(act(source.op, parts, at, true));
      continue;
    }
    for (const ir::ValueId result : op.results) {
      const Rows rows = rows_of(id, result);
      if (!sketch_.depends(result) || is_known({{result, rows}, at})) continue;
      if (sketch_.copy_of(result)) {
        TWILL_TRY_VOID(taken(result, rows, at, nullptr));
      } else if (ir::type_of(program_, result)->kind == ir::TypeKind::memdesc) {
        if (op.kind != ir::OpKind::shared_alloc) continue;  // a view, made at its use
        TWILL_TRY_VOID(write_part(id, sketch_.behind_relayouts(op.operands.front()),
                                  plan_.values[id.index()].home, at));
      } else {
        TWILL_TRY_VOID(clone(source.op, rows, at));
      }
    }
  }
  const auto moved = sketch_.deed(id).moves;
  return moved ? write_part(id, *moved, *plan_.values[id.index()].home, at) : Result<void>();
}

/// Moves values of other ops to a product or a store by TMA. False: the op of the plan moves no
/// value.
Result<bool> RoleBuilder::forward(OpId id, At at) {
  if (!sketch_.origin(id).forwards) return false;
  const auto home = plan_.values[id.index()].home;
  const Deed& deed = sketch_.deed(id);
  if (deed.boxes) {
    const auto access = *ir::memory_access(program_.op(*deed.boxes));
    TWILL_TRY_VOID(write_part(id, sketch_.behind_relayouts(*access.source), *home, at));
    return true;
  }
  if (deed.receives) {
    const Rows rows = rows_of(id, *deed.receives);
    if (makes(sketch_.makers_of(*deed.receives), rows)) return true;
    TWILL_TRY_VOID(taken(*deed.receives, rows, at, nullptr));
    return true;
  }
  if (!deed.moves) return false;
  const Rows rows = rows_of(id, *deed.moves);
  if (!is_known({{*deed.moves, rows}, at})) {
    TWILL_TRY_VOID(clone(*sketch_.definition(*deed.moves), rows, at));
  }
  TWILL_TRY_VOID(write_part(id, *deed.moves, *home, at));
  return true;
}

/// Stores the box of a store by TMA in the loop, which a group has filled.
Result<void> RoleBuilder::store_box(OpId id, At at) {
  const ir::OpId store = sketch_.origin(id).sources.front().op;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    if (sketch_.deed(OpId(i)).boxes != store) continue;
    const Ring& ring = memory_.rings.at(*plan_.values[i].home);
    return send_box(store, copy(ring, at, "box"), at);
  }
  return sketch_.refuse(store, "has no box in the plan");
}

/// Writes the rows that an op of the plan makes of a value into the op's ring.
Result<void> RoleBuilder::write_part(OpId id, ir::ValueId value,
                                     std::optional<plan::BufferId> buffer, At at) {
  if (!buffer || !memory_.rings.contains(*buffer)) {
    return sketch_.refuse(sketch_.origin(id).sources.front().op, "has no buffer in the plan");
  }
  const Rows rows = rows_of(id, value);
  const Ring& ring = memory_.rings.at(*buffer);
  TWILL_TRY(const ValueId tile, want(value, rows, at));
  const ValueId one = copy(ring, at, plan_.problem[id].name);
  emit(NodeKind::write, {tile, ring.joint ? rows_of(one, rows) : one});
  written_.insert({{value, rows}, at});
  return {};
}

/// The dimension in which the rows of an effect are cut; -1: all rows.
int RoleBuilder::cut_of_operands(ir::OpId id) const {
  int cut = -1;
  for (const ir::ValueId operand : program_.op(id).operands) {
    cut = std::max(cut, sketch_.cut_of(operand));
  }
  return cut;
}

/// Writes a value into the buffer that other roles read.
Result<void> RoleBuilder::stage(OpId id, At at) {
  if (const auto value = sketch_.deed(id).value) {
    return write_part(id, *value, plan_.values[id.index()].staged, at);
  }
  return sketch_.refuse(sketch_.origin(id).sources.front().op,
                        "is staged in the loop, which is not printed as TTGIR yet");
}

Result<void> RoleBuilder::issue(const plan::Step& step, At at) {
  const OpId op = *step.op;
  const plan::Mechanism how = plan_.mechanisms[op.index()];
  switch (how) {
    case plan::Mechanism::tma_load:
    case plan::Mechanism::cp_async: {
      TWILL_TRY(const ir::OpId load, sketch_.load_of(op));
      return bring(load, op, *step.channel, at);
    }
    case plan::Mechanism::wgmma:
      return product(op, at);
    case plan::Mechanism::threads:
    case plan::Mechanism::scoreboard:
      return compute(op, at);
    case plan::Mechanism::bulk_store:
      return store_box(op, at);
    default:
      return sketch_.refuse(
          sketch_.origin(op).sources.front().op,
          "is done by " + std::string(plan::name_of(how)) + ", which is not printed as TTGIR");
  }
}

/// The descriptor and the coordinates of the box that an operation accesses.
Result<std::vector<ValueId>> RoleBuilder::place_of(ir::OpId op, At at) {
  const auto access = ir::memory_access(program_.op(op));
  if (!access || !access->by_descriptor) return sketch_.refuse(op, "accesses no box");
  std::vector<ValueId> place;
  TWILL_TRY(place.emplace_back(), want(access->address, {}, at));
  for (const ir::ValueId coordinate : access->coordinates) {
    TWILL_TRY(place.emplace_back(), want(coordinate, {}, at));
  }
  return place;
}

/// Begins the store of the box in `buffer`.
Result<void> RoleBuilder::send_box(ir::OpId store, ValueId buffer, At at) {
  TWILL_TRY(std::vector<ValueId> operands, place_of(store, at));
  operands.push_back(buffer);
  emit(NodeKind::store_box, std::move(operands)).source = store;
  return {};
}

/// Begins a load into the ring of that op of the plan.
Result<void> RoleBuilder::bring(ir::OpId load, OpId copy, plan::ChannelId channel, At at) {
  return bring(load, plan_.mechanisms[copy.index()], *plan_.values[copy.index()].home, channel, at,
               plan_.problem[copy].name);
}

Result<void> RoleBuilder::bring(ir::OpId load, plan::Mechanism how, plan::BufferId home,
                                plan::ChannelId channel, At at, const std::string& name) {
  const Ring &ring = memory_.rings.at(home), &full = memory_.full.at(channel);
  return how == plan::Mechanism::cp_async ? copy_by_threads(load, ring, full, at, name)
                                          : load_box(load, ring, full, at, name);
}

Result<void> RoleBuilder::load_box(ir::OpId load, const Ring& ring, const Ring& full, At at,
                                   const std::string& name) {
  TWILL_TRY(std::vector<ValueId> operands, place_of(load, at.from == At::From::tile ? At{} : at));
  const ValueId buffer = copy(ring, at, name);
  operands.insert(operands.end(), {copy(full, at, "full"), buffer, constant(1, sketch_.i1())});
  emit(NodeKind::load_box, std::move(operands)).source = load;
  return {};
}

/// The condition of an operation in the loop; nullopt if the operation is always done.
Result<std::optional<ValueId>> RoleBuilder::condition_of(ir::OpId op, At at) {
  std::optional<ValueId> condition;
  if (sketch_.where(op) != Where::loop) return condition;
  for (auto around = ir::parent(program_, op); around && *around != sketch_.loop().op;
       around = ir::parent(program_, op)) {
    const ir::Op& branch = program_.op(*around);
    if (branch.kind != ir::OpKind::branch) return sketch_.refuse(op, "stands in another loop");
    TWILL_TRY(ValueId taken, want(branch.operands.front(), {}, at));
    if (program_.op(op).block == ir::body(program_, *around, 1)) {
      taken = integer(NodeKind::exclusive_or, taken, constant(1, sketch_.i1()), "not_taken");
    }
    if (condition) {
      const ValueId no = constant(0, sketch_.i1());
      taken = make(NodeKind::choose, {taken, *condition, no}, "taken", sketch_.i1());
    }
    condition = taken;
    op = *around;
  }
  return condition;
}

/// Adds a condition to the mask of a copy. The operands are pointers, and perhaps a mask and other
/// values.
void RoleBuilder::add_mask(ValueId condition, std::vector<ValueId>& operands) {
  const ir::Type pointers = type_of(operands.front());
  const ir::Type type = sketch_.types().tensor(pointers->shape, sketch_.i1(), pointers->encoding);
  const ValueId all = make(NodeKind::spread, {condition}, "taken", type);
  if (operands.size() == 1) {
    operands.push_back(all);
  } else {
    operands[1] = make(NodeKind::both, {operands[1], all}, "mask", type);
  }
}

Result<void> RoleBuilder::copy_by_threads(ir::OpId load, const Ring& ring, const Ring& full, At at,
                                          const std::string& name) {
  const At iteration = at.from == At::From::tile ? At{} : at;
  TWILL_TRY(const std::optional<ValueId> condition, condition_of(load, iteration));
  if (!fits_cp_async(program_, load)) {
    if (condition)
      return sketch_.refuse(load, "is loaded under a condition, and not as cp.async copies");
    TWILL_TRY(const ValueId tile, clone(load, {}, iteration));
    emit(NodeKind::write, {tile, copy(ring, at, "copy")});
    emit(NodeKind::proxy_fence);
    arrive(full, at, "full");
    return {};
  }
  std::vector<ValueId> operands;
  for (const ir::ValueId operand : program_.op(load).operands) {
    TWILL_TRY(operands.emplace_back(), want(operand, {}, iteration));
  }
  if (condition) add_mask(*condition, operands);
  operands.insert(operands.begin() + 1, copy(ring, at, name));
  const ValueId token = add_value("copied", dialect::copy_token(sketch_.types()));
  emit(NodeKind::copy, std::move(operands), {token}).source = load;
  emit(NodeKind::arrive_copied, {copy(full, at, "full")});
  return {};
}

/// The value to which a product adds; nullopt if that value is zero.
std::optional<Key> RoleBuilder::accumulator(ir::ValueId value, Rows rows, At at) const {
  value = sketch_.behind_relayouts(value);
  if (const ir::Carried* carried = sketch_.carried_argument(value)) {
    if (at.from == At::From::first && at.offset == 0) return accumulator(carried->init, rows, {});
    if (at.from == At::From::first || spread_ + at.offset >= 1) {
      return accumulator(carried->yielded, rows, {at.from, at.offset - 1});
    }
  } else if (ir::constant_number(program_, value) == 0.0) {
    return std::nullopt;
  }
  return Key{{value, rows}, at};
}

/// Begins a product of rows of both factors. The product adds to its accumulator if `adds` says so.
RoleBuilder::Want RoleBuilder::begin_product(ir::OpId id, Rows rows, At at, const std::string& name,
                                             const std::function<Want()>& adds) {
  const auto operands = *ir::mma_operands(program_.op(id));
  std::vector<ValueId> values;
  const ir::ValueId inputs[] = {operands.a, operands.b, operands.accumulator};
  const int cuts[] = {rows.cut == 0 ? 0 : -1, rows.cut == 1 ? 1 : -1, rows.cut};
  for (int i = 0; i < 3; ++i) {
    TWILL_TRY(values.emplace_back(), want(inputs[i], {cuts[i], rows.part}, at));
  }
  if (type_of(values[0])->shape.back() != type_of(values[1])->shape.front()) {
    return sketch_.refuse(id, "adds up what several groups hold",
                          "plan it with tiles that are not cut: --subtile 0");
  }
  TWILL_TRY(values.emplace_back(), adds());
  TWILL_TRY(const ir::Type type, own_type(*operands.result, rows));
  const ValueId made = add_value(name, type);
  emit(NodeKind::product, std::move(values), {made}).source = id;
  return made;
}

Result<void> RoleBuilder::product(OpId id, At at) {
  const extract::OpOrigin& origin = sketch_.origin(id);
  TWILL_TRY(const bool in_branch, compute_unit(id, at));
  if (in_branch) return {};
  const ir::OpId blamed = origin.sources.front().op;
  std::optional<ir::OpId> dot;
  for (const extract::Source& source : origin.sources) {
    const ir::OpKind kind = program_.op(source.op).kind;
    if (kind == ir::OpKind::mma) {
      constexpr std::int64_t kRows = 64;  // rows of a warpgroup's product
      const ir::Type type = ir::type_of(program_, program_.op(source.op).results.front());
      const bool low = type->shape.size() < 2 || type->shape[type->shape.size() - 2] < kRows;
      return sketch_.refuse(source.op,
                            "is a product by the threads themselves, which is not printed as TTGIR",
                            low ? "give it 64 rows or more" : "run it with num_warps = 4 or 8");
    }
    if (kind == ir::OpKind::wgmma && !dot) {
      dot = source.op;
    } else if (kind != ir::OpKind::wgmma_wait && kind != ir::OpKind::relayout) {
      return sketch_.refuse(source.op, "is part of a product, and is none of wgmma");
    }
  }
  if (!dot) return sketch_.refuse(blamed, "is no product of wgmma");
  const auto operands = *ir::mma_operands(program_.op(*dot));
  const ir::ValueId result = *operands.result;
  const Rows rows = rows_of(id, result);
  const auto adds_to = accumulator(operands.accumulator, rows, at);
  if (operands.use_accumulator && adds_to) {
    return sketch_.refuse(*dot, "adds to its accumulator under a condition");
  }
  const Key key{{result, rows}, at};
  TWILL_TRY(made_[key], begin_product(*dot, rows, at, plan_.problem[id].name, [&]() -> Want {
              return constant(adds_to ? 1 : 0, sketch_.i1());
            }));
  if (adds_to) consumed_.insert(*adds_to);
  in_flight_.push_back(key);
  return {};
}

/// Waits for all products but `pending`. A ready result is a new value; the result to which a later
/// product adds has no reader. If no other result becomes ready, the last product in flight is the
/// operand of the wait.
Result<void> RoleBuilder::drain(int pending) {
  // Behind the loop, products in flight are of the loop or of a short trip count.
  if (section_ == At::From::tile && pending > 0 && !in_flight_.empty()) {
    return sketch_.refuse(sketch_.loop().op,
                          "has products in flight behind it, not all waited for");
  }
  const auto keep = static_cast<std::size_t>(pending);
  const std::size_t done = in_flight_.size() > keep ? in_flight_.size() - keep : 0;
  const auto end = in_flight_.begin() + static_cast<std::ptrdiff_t>(done);
  const auto is_read = [&](const Key& key) { return !consumed_.contains(key); };
  std::vector<Key> ready;
  std::copy_if(in_flight_.begin(), end, std::back_inserter(ready), is_read);
  in_flight_.erase(in_flight_.begin(), end);
  if (ready.empty()) {
    const auto last = std::find_if(in_flight_.rbegin(), in_flight_.rend(), is_read);
    if (last == in_flight_.rend()) return {};
    ready.push_back(*last);
  }
  Node node{NodeKind::wait_products, {}, {}, {pending}};
  for (const Key& key : ready) {
    TWILL_TRY(const ir::Type own, type_of(key.thing));
    const auto known = made_.find(key);
    ValueId begun;
    if (known != made_.end()) {
      begun = known->second;
    } else if (section_ == At::From::tile) {
      TWILL_TRY(begun, left(key.thing, own));
    } else {
      begun = carried({key.thing, key.at.offset}, own);
    }
    node.operands.push_back(begun);
    node.results.push_back(add_value(name_of(key.thing), own));
  }
  for (std::size_t i = 0; i < ready.size(); ++i) made_[ready[i]] = node.results[i];
  now_->push_back(std::move(node));
  return {};
}

}  // namespace twill::device
