#include "twill/device/sketch.h"
#include "twill/extract/effects.h"

/// Parts of the loop that are done as a whole, beside the plan's ops or in place of several ops.
/// These are branches, and effects that no op of the plan stands for.
namespace twill::device {

/// The operation in the loop's body that holds an operation; the operation itself outside of the
/// loop.
ir::OpId Sketch::in_body(ir::OpId op) const {
  const bool inside = op != loop_.op && ir::is_inside(*program_, op, loop_.op);
  return inside ? extract::in_body(*program_, loop_.op, op) : op;
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

/// Finds the branches and effects that the plan has done as a whole.
Result<void> Sketch::find_units() {
  for (const plan::Whole& whole : plan_->kernel->wholes) {
    if (whole.last.empty()) continue;
    TWILL_TRY(const ir::OpId op, at_place(whole.place));
    Unit& unit = units_[op];
    unit.follows = whole.placing == plan::Placing::behind;
    for (const OpId last : whole.last) unit.last.emplace(origin(last).part, last);
    for (const ir::ValueId result : program_->op(op).results) {
      if (depends(result) && !unit.follows) made_[result] = whole.last;
    }
  }
  return {};
}

}  // namespace twill::device
