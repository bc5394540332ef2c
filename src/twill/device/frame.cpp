#include <algorithm>
#include <utility>

#include "twill/device/sketch.h"
#include "twill/ir/arrays.h"
#include "twill/ir/operands.h"

/// The function around the roles: where it may end early, and effects that no role has.
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

/// Finds the ops around the loop: perhaps loops over tiles, and around them branches. A tile for
/// which a branch is not taken ends in front of the roles.
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

/// A branch around all that the kernel does is an early end of the function where it is not taken.
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
  for (const ir::Exit& exit : returns.exits) {
    exits_.push_back(exit);
    if (!exit.acts) continue;
    const auto& ops = program_->block(*exit.acts).ops;
    leaving_.insert(ops.begin(), ops.end());
  }
  return {};
}

/// Whether a step of the plan does what an operation does, or what it is a part of.
bool Sketch::is_planned(ir::OpId op) const {
  for (std::optional<ir::OpId> at = op; at; at = ir::parent(*program_, *at)) {
    if (std::find(per_tile_ops_.begin(), per_tile_ops_.end(), *at) != per_tile_ops_.end())
      return true;
    for (const extract::OpOrigin& origin : origins_) {
      for (const extract::Source& source : origin.sources) {
        if (source.op == *at) return true;
      }
    }
  }
  return false;
}

/// An effect in front of the loop that no role has is done by the launch's own warps, before
/// loads of roles.
Result<void> Sketch::front_effect(ir::OpId op) {
  const auto earlier = meeting(op, [&](ir::OpId other) {
    return other < op && ir::memory_access(program_->op(other))->reads &&
           !is_effect(*program_, other) && !leaving_.contains(other);
  });
  const bool remarks = ir::class_of(program_->op(op).kind) == ir::OpClass::remark;
  if (earlier && !remarks) {
    return refuse(op, "is an effect in front of the loop and behind a load (" + words(*earlier) +
                          "), whose order is not kept yet");
  }
  front_.push_back(op);
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

std::optional<ir::OpId> Sketch::meeting(ir::OpId op,
                                        const std::function<bool(ir::OpId)>& among) const {
  const auto global = [&](ir::OpId at) {
    const auto access = ir::memory_access(program_->op(at));
    return access && access->space == ir::AccessSpace::global ? access : std::nullopt;
  };
  const auto own = global(op);
  for (const ir::OpId other : ir::walk(*program_, function_)) {
    const auto access = global(other);
    if (!access || !among(other)) continue;
    if (!own || ir::may_meet(*program_, own->address, access->address)) return other;
  }
  return std::nullopt;
}

/// TTGIR waits until stores by TMA have read their boxes, not until they have written. So ops
/// outside of the loop may not touch memory that the loop stores so.
Result<void> Sketch::check_stores() const {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    if (plan_->mechanisms[i] != plan::Mechanism::bulk_store) continue;
    const ir::OpId store = origins_[i].sources.front().op;
    const auto later = meeting(store, [&](ir::OpId other) {
      return where(other) == Where::after || (walks() && where(other) != Where::loop);
    });
    if (later) {
      return refuse(*later, "touches what " + words(store) +
                                " stores in the loop by TMA, and TTGIR cannot wait for that");
    }
  }
  return {};
}

/// Each effect of the text is done once per tile: by a step of the plan, with one, or by the
/// launch's own warps. The last needs an order of the text that allows it.
Result<void> Sketch::find_effects() {
  std::optional<ir::OpId> last_planned;
  std::vector<ir::OpId> others;
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    if (!is_effect(*program_, op)) continue;
    if (!is_planned(op)) {
      others.push_back(op);
    } else if (where(op) == Where::after) {
      last_planned = op;
    }
  }
  for (const ir::OpId op : others) {
    if (leaving_.contains(op)) continue;
    if (where(op) == Where::loop) {
      TWILL_TRY_VOID(attach(op));
      continue;
    }
    if (!is_of_kernel(op)) return refuse(op, "is an effect that no step of the plan has");
    if (where(op) == Where::before) {
      TWILL_TRY_VOID(front_effect(op));
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
  return check_stores();
}

}  // namespace twill::device
