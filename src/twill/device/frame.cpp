#include <algorithm>
#include <utility>

#include "twill/device/sketch.h"
#include "twill/ir/operands.h"

/// The function around the roles: where it may end early, and effects that no role has.
namespace twill::device {

using ir::OpKind;

bool Sketch::is_of_kernel(ir::OpId op) const { return ir::parent(*program_, op) == function_; }

bool Sketch::is_of_tile(ir::OpId op) const {
  return outer_ && ir::parent(*program_, op) == outer_->op;
}

Result<void> Sketch::find_outer() {
  const auto around = ir::parent(*program_, loop_.op);
  if (around == function_) return {};
  outer_ = ir::as_loop(*program_, *around);
  if (!outer_ || !outer_->induction) {
    return refuse(*around, "stands around the loop, and is no counting loop");
  }
  if (ir::parent(*program_, *around) != function_) {
    return refuse(*around, "stands around the loop and in another loop");
  }
  return {};
}

Result<void> Sketch::find_exits() {
  auto returns = ir::returns_before(*program_, outer_ ? outer_->op : loop_.op);
  if (returns.other) {
    return refuse(*returns.other,
                  "branches otherwise than on to the loop or to the function's end");
  }
  exits_ = std::move(returns.exits);
  return {};
}

/// Whether a step of the plan does what an operation does, or what it is a part of.
bool Sketch::is_planned(ir::OpId op) const {
  for (std::optional<ir::OpId> at = op; at; at = ir::parent(*program_, *at)) {
    if (std::find(around_.begin(), around_.end(), *at) != around_.end()) return true;
    for (const extract::OpOrigin& origin : origins_) {
      for (const extract::Source& source : origin.sources) {
        if (source.op == *at) return true;
      }
    }
  }
  return false;
}

/// Each effect of the text is done once per tile: by a step of the plan, or by the launch's own
/// warps where the order of the text allows that.
Result<void> Sketch::find_effects() {
  std::optional<ir::OpId> last_planned, first_load;
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    const auto access = ir::memory_access(program_->op(op));
    const bool reads = access && access->reads && access->space == ir::AccessSpace::global;
    if (reads && !is_effect(*program_, op) && !first_load) first_load = op;
    if (is_effect(*program_, op) && is_planned(op) && where(op) == Where::after) last_planned = op;
  }
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    if (!is_effect(*program_, op)) continue;
    if (where(op) == Where::loop && ir::parent(*program_, op) != loop_.op && is_planned(op)) {
      return refuse(op, "has an effect in some iterations only, which no step of a plan has",
                    "do it in every iteration, under a mask");
    }
    if (is_planned(op)) continue;
    if (ir::parent(*program_, op) != function_ || where(op) == Where::loop) {
      return refuse(op, "is an effect that no step of the plan has");
    }
    if (where(op) == Where::before) {
      if (first_load && *first_load < op) {
        return refuse(op, "is an effect in front of the loop and behind a load (" +
                              words(*first_load) + "), whose order is not kept yet");
      }
      front_.push_back(op);
      continue;
    }
    const auto& operands = program_->op(op).operands;
    const bool free = std::none_of(operands.begin(), operands.end(),
                                   [&](ir::ValueId operand) { return depends(operand); });
    if (!free || (last_planned && op < *last_planned)) {
      return refuse(
          op, free ? "is an effect between those of groups (" + words(*last_planned) + " follows)"
                   : "is an effect of what groups compute that no step of the plan has");
    }
    back_.push_back(op);
  }
  return {};
}

}  // namespace twill::device
