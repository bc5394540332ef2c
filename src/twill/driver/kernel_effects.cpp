#include "twill/driver/kernel_effects.h"

#include <algorithm>
#include <set>
#include <utility>

#include "twill/extract/effects.h"
#include "twill/ir/source_words.h"

namespace twill::driver {
namespace {

plan::Whole whole_of(const ir::Program& program, ir::OpId op, plan::Placing placing,
                     const std::string& objection) {
  const plan::Place place{ir::op_words(program, op), program.op(op).line, program.op(op).column};
  return {place, placing, {}, {}, objection};
}

std::vector<problem::OpId> ops_of(const extract::Makers& makers) {
  std::vector<problem::OpId> ops;
  for (const std::size_t op : makers) ops.emplace_back(op);
  return ops;
}

}  // namespace

void add_effects(plan::Setting& setting, const Kernel& kernel, const report::Outcome& outcome) {
  const ir::Program& program = kernel.program;
  const ir::OpId loop = kernel.choice.loop;
  for (const extract::WholeOp& it : extract::whole_ops(program, loop, outcome.origins)) {
    setting.wholes.push_back({whole_of(program, it.op, plan::Placing::within, it.objection),
                              ops_of(it.within), ops_of(it.needs), it.acts});
  }
  std::set<std::pair<int, int>> planned;
  for (const plan::PerTileRequest& request : setting.per_tile_ops) {
    planned.emplace(request.what.line, request.what.column);
  }
  const auto is_planned = [&](ir::OpId op) {
    return planned.contains({program.op(op).line, program.op(op).column});
  };
  for (const auto& [op, objection] : extract::effects_around(program, loop, is_planned)) {
    const auto placing = op < loop ? plan::Placing::before_roles : plan::Placing::after_roles;
    setting.wholes.push_back({whole_of(program, op, placing, objection), {}, {}, true});
  }
}

}  // namespace twill::driver
