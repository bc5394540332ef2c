#include <algorithm>

#include "twill/device/sketch.h"
#include "twill/extract/copied.h"
#include "twill/ir/effects.h"

/// Loops behind the planned loop that work on tiles. They run in the same roles, one step after the
/// other. Their loads use the rings of the planned loop, which go on.
namespace twill::device {

using ir::OpKind;

std::optional<OpId> Sketch::ring_of(ir::ValueId value) const {
  const auto found = again_.find(value);
  return found == again_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ir::OpId> Sketch::loads_of(ir::OpId loop) const {
  std::vector<ir::OpId> loads;
  for (const ir::OpId id : ir::walk(*program_, loop)) {
    const auto& results = program_->op(id).results;
    if (!results.empty() && again_.contains(results.front())) loads.push_back(id);
  }
  return loads;
}

std::set<ir::ValueId> Sketch::made_for_loads(const ir::Loop& loop) const {
  std::vector<ir::ValueId> places;
  for (const ir::OpId load : loads_of(loop.op)) {
    const auto& operands = program_->op(load).operands;
    places.insert(places.end(), operands.begin(), operands.end());
  }
  return extract::made_in(*program_, loop, std::move(places), given_);
}

std::set<ir::ValueId> Sketch::made_for_others(const ir::Loop& loop) const {
  std::vector<ir::ValueId> wanted;
  for (const ir::Carried& carried : loop.carried) {
    const bool is_read = carried.result && !program_->value(*carried.result).uses.empty();
    if (is_read) wanted.push_back(carried.argument);
  }
  const auto acts = [&](ir::OpId id) {
    return ir::effect_of(program_->op(id)) != ir::Effect::none || ir::is_effect(*program_, id);
  };
  for (const ir::OpId top : program_->block(loop.body).ops) {
    const std::vector<ir::OpId> inner = ir::walk(*program_, top);
    if (std::none_of(inner.begin(), inner.end(), acts)) continue;
    for (const ir::OpId id : inner) {
      const ir::Op& op = program_->op(id);
      wanted.insert(wanted.end(), op.operands.begin(), op.operands.end());
      wanted.insert(wanted.end(), op.results.begin(), op.results.end());
    }
  }
  return extract::made_in(*program_, loop, std::move(wanted), given_);
}

/// Finds loads of other loops for which the plan uses rings.
Result<void> Sketch::find_beside() {
  for (const plan::PerTileOp& loop : plan_->kernel->per_tile_ops) {
    for (const plan::RingLoad& load : loop.loads) {
      TWILL_TRY(const ir::OpId id, at_place(load.load));
      again_.emplace(program_->op(id).results.front(), load.copy);
      given_.insert(program_->op(id).results.front());
    }
  }
  return {};
}

}  // namespace twill::device
