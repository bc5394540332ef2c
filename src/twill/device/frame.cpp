#include <algorithm>
#include <utility>

#include "twill/device/sketch.h"
#include "twill/extract/effects.h"
#include "twill/ir/operands.h"

/// The function around the roles: its early ends, and effects that no role has.
namespace twill::device {

using ir::OpKind;

std::optional<std::size_t> Sketch::level_of(ir::OpId op) const {
  const auto holder = ir::parent(*program_, op);
  if (holder == function_ || (holder && guards_.contains(*holder))) return 0;
  for (std::size_t i = 0; i < around_.size(); ++i) {
    if (holder == around_[i].op) return i + 1;
  }
  return std::nullopt;
}

/// Finds the ops around the loop: loops over tiles, if any, and branches around these. A tile that
/// does not take a branch ends in front of the roles.
Result<void> Sketch::find_around() {
  ir::OpId inner = loop_.op;
  for (auto around = ir::parent(*program_, inner); around && *around != function_;
       around = ir::parent(*program_, inner)) {
    if (program_->op(*around).kind == ir::OpKind::branch) {
      TWILL_TRY_VOID(find_guard(*around, inner));
    } else if (!guards_.empty()) {
      return refuse(*around,
                    "is a loop around a branch around the main loop, which is not printed as TTGIR "
                    "yet",
                    "give the loop no iterations where there is nothing to do");
    } else {
      const auto outer = ir::as_loop(*program_, *around);
      const bool is_known = outer && (outer->induction || outer->before);
      if (!is_known) return refuse(*around, "stands around the loop, and is no loop");
      around_.insert(around_.begin(), *outer);
    }
    inner = *around;
  }
  outermost_ = inner;
  return {};
}

/// Finds an early end. A branch around all work of the kernel is an early end of the function where
/// the branch is not taken.
Result<void> Sketch::find_guard(ir::OpId branch, ir::OpId inner) {
  const ir::Op& op = program_->op(branch);
  const ir::BlockId block = program_->op(inner).block;
  const auto is_in_block = [&](ir::OpId at) {
    std::optional<ir::OpId> around = at;
    while (around && program_->op(*around).block != block) around = ir::parent(*program_, *around);
    return around.has_value();
  };
  for (const ir::OpId at : ir::walk(*program_, function_)) {
    if (at > branch && !is_in_block(at) && is_effect(*program_, at)) {
      return refuse(branch, "stands around the loop, and " + words(at) +
                                " is done also where it is not taken");
    }
  }
  if (!op.results.empty()) return refuse(branch, "stands around the loop, and has results");
  guards_.insert(branch);
  exits_.push_back({branch, op.operands.front(), ir::body(*program_, branch, 0) != block});
  return {};
}

Result<void> Sketch::find_exits() {
  auto returns = ir::returns_before(*program_, outermost_, ir::Leaving::may_act);
  if (returns.other) {
    return refuse(*returns.other,
                  "branches otherwise than on to the loop or to the function's end");
  }
  exits_.insert(exits_.end(), returns.exits.begin(), returns.exits.end());
  return {};
}

std::vector<ir::OpId> Sketch::descriptors() const {
  std::vector<ir::OpId> found;
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    const bool makes = program_->op(op).kind == OpKind::make_descriptor;
    if (makes && where(op) == Where::before && is_of_kernel(op)) found.push_back(op);
  }
  return found;
}

/// Refuses memory conflicts with stores. TTGIR waits until stores by TMA have read their boxes, not
/// until they have written. So ops outside of the loop may not access memory that the loop stores
/// by TMA.
Result<void> Sketch::check_stores() const {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    if (plan_->mechanisms[i] != plan::Mechanism::bulk_store) continue;
    const ir::OpId store = origins_[i].sources.front().op;
    const auto later = extract::meeting(*program_, function_, store, [&](ir::OpId other) {
      return where(other) == Where::after || (walks() && where(other) != Where::loop);
    });
    if (later) {
      return refuse(*later, "touches what " + words(store) +
                                " stores in the loop by TMA, and TTGIR cannot wait for that");
    }
  }
  return {};
}

/// Finds effects that the plan gives to the launch's own warps.
Result<void> Sketch::find_effects() {
  for (const plan::Whole& whole : plan_->kernel->wholes) {
    TWILL_TRY(const ir::OpId op, at_place(whole.place));
    if (!whole.objection.empty()) return refuse(op, whole.objection);
    if (whole.placing == plan::Placing::before_roles) front_.push_back(op);
    if (whole.placing == plan::Placing::after_roles) back_.push_back(op);
  }
  return check_stores();
}

}  // namespace twill::device
