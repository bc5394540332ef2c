#include <algorithm>

#include "twill/device/sketch.h"
#include "twill/ir/arrays.h"
#include "twill/ir/operands.h"

/// Parts of the loop that are done as a whole beside the plan's ops, or in place of several. These
/// are branches, and effects that no op of the plan stands for.
namespace twill::device {

using ir::OpClass;
using ir::OpKind;

/// The operation in the loop's body that holds an operation; itself if it stands there.
ir::OpId Sketch::in_body(ir::OpId op) const {
  for (auto around = ir::parent(*program_, op); around && *around != loop_.op;
       around = ir::parent(*program_, op)) {
    op = *around;
  }
  return op;
}

const Unit* Sketch::unit_of(ir::OpId op) const {
  if (where(op) != Where::loop) return nullptr;
  const auto found = units_.find(in_body(op));
  return found == units_.end() || found->first == op ? nullptr : &found->second;
}

std::vector<std::pair<ir::OpId, int>> Sketch::following(OpId op) const {
  std::vector<std::pair<ir::OpId, int>> units;
  for (const auto& [id, unit] : units_) {
    for (const auto& [part, last] : unit.last) {
      if (unit.follows && last == op) units.emplace_back(id, part);
    }
  }
  return units;
}

/// Lets a unit be done with that op of the plan, if it is the last one of its part.
void Sketch::note_last(Unit& unit, OpId op) const {
  const auto issue = [&](OpId at) { return plan_->schedule.ops[at.index()].issue; };
  const auto [at, is_new] = unit.last.emplace(origin(op).part, op);
  if (!is_new && issue(op) > issue(at->second)) at->second = op;
}

/// Branches of which the plan has ops are done where the last of them is, in its group.
void Sketch::find_branches() {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const OpId op(i);
    if (origins_[i].forwards || plan::is_copy(plan_->mechanisms[i])) continue;
    for (const extract::Source& source : origins_[i].sources) {
      if (where(source.op) != Where::loop) continue;
      const ir::OpId top = in_body(source.op);
      if (top == source.op || program_->op(top).kind != OpKind::branch) continue;
      note_last(units_[top], op);
    }
  }
  for (auto& [top, unit] : units_) {
    if (unit.last.size() > 1) unit.last.erase(-1);
    for (const ir::ValueId result : program_->op(top).results) {
      if (!depends(result)) continue;
      for (const auto& [part, last] : unit.last) made_[result].push_back(last);
    }
  }
}

/// The plan's ops that make what an operation, with all in its regions, is computed from.
std::set<OpId> Sketch::makers_behind(ir::OpId id) const {
  std::set<OpId> makers;
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo;
  const auto read = [&](ir::OpId by) {
    for (const ir::OpId at : ir::walk(*program_, by)) {
      const auto& operands = program_->op(at).operands;
      todo.insert(todo.end(), operands.begin(), operands.end());
    }
  };
  read(id);
  while (!todo.empty()) {
    const ir::ValueId value = behind_relayouts(todo.back());
    todo.pop_back();
    if (!seen.insert(value).second) continue;
    const auto by = definition(value);
    if (!by || where(*by) != Where::loop || *by == id) continue;
    const std::vector<OpId>& ops = makers_of(value);
    makers.insert(ops.begin(), ops.end());
    if (const auto copy = copy_of(value)) makers.insert(*copy);
    if (ops.empty()) read(*by);
  }
  return makers;
}

/// Effects in the loop that no op of the plan stands for. Each is done behind the last op that it
/// needs, or with the first product.
Result<void> Sketch::attach(ir::OpId effect) {
  const ir::OpId top = in_body(effect);
  const auto known = units_.find(top);
  TWILL_TRY_VOID(check_order(effect, top));
  if (known != units_.end()) return {};
  Unit unit;
  unit.follows = true;
  for (const OpId maker : makers_behind(top)) {
    const plan::Mechanism how = plan_->mechanisms[maker.index()];
    if (how != plan::Mechanism::threads && how != plan::Mechanism::scoreboard) {
      return refuse(effect, "is an effect of a tile while that is loaded or multiplied",
                    "compute something of it first");
    }
    note_last(unit, maker);
  }
  if (unit.last.size() > 1) unit.last.erase(-1);
  for (std::size_t i = 0; i < origins_.size() && unit.last.empty(); ++i) {
    if (plan_->mechanisms[i] == plan::Mechanism::wgmma) unit.last.emplace(0, OpId(i));
  }
  if (unit.last.empty()) return refuse(effect, "is an effect that no step of the plan has");
  units_.emplace(top, std::move(unit));
  return {};
}

/// An effect may change places with what touches no array of its own. `top` keeps its own order.
Result<void> Sketch::check_order(ir::OpId effect, ir::OpId top) const {
  if (ir::class_of(program_->op(effect).kind) == OpClass::remark) return {};
  const auto own = ir::memory_access(program_->op(effect));
  if (!own || own->space != ir::AccessSpace::global) {
    return refuse(effect, "is an effect that no step of the plan has");
  }
  const auto other = meeting(effect, [&](ir::OpId at) {
    return at != effect && (in_body(at) != top || where(at) != Where::loop);
  });
  if (other) {
    return refuse(effect, "writes what " + words(*other) +
                              " may read or write, and their order is not kept yet");
  }
  return {};
}

}  // namespace twill::device
