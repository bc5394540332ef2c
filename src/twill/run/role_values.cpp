#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/run/role_steps.h"

/// Values of a role: buffers, and the iterations from which tiles are made.
namespace twill::run {

using ir::OpKind;

namespace {

bool is_made_of_indices(const ir::Program& program, ir::ValueId value,
                        std::set<ir::ValueId>& seen) {
  if (!seen.insert(value).second) return true;
  const ir::Op* op = ir::defining_op(program, value);
  if (op == nullptr) {
    const ir::Type type = ir::type_of(program, value);
    return !ir::is_tensor(type) && type->kind != ir::TypeKind::floating;
  }
  switch (ir::class_of(op->kind)) {
    case ir::OpClass::value:
    case ir::OpClass::elementwise:
    case ir::OpClass::view:
    case ir::OpClass::rearrangement:
      return std::all_of(op->operands.begin(), op->operands.end(), [&](ir::ValueId operand) {
        return is_made_of_indices(program, operand, seen);
      });
    default:
      return false;
  }
}

/// Values given to a step from which an op in the step is computed, and all values in between.
std::set<ir::ValueId> taken_by(const ir::Program& program, ir::OpId source,
                               const std::map<plan::OpId, std::set<ir::ValueId>>& handed) {
  std::map<ir::ValueId, ir::ValueId> yielded;
  for (const ir::Loop& loop : ir::loops(program, program.module())) {
    for (const ir::Carried& it : loop.carried) yielded.emplace(it.argument, it.yielded);
  }
  std::vector<ir::ValueId> open = program.op(source).operands;
  std::set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const bool is_handed = std::any_of(handed.begin(), handed.end(),
                                       [&](const auto& it) { return it.second.contains(value); });
    if (!seen.insert(value).second || is_handed) continue;
    const auto carried = yielded.find(value);
    if (carried != yielded.end()) open.push_back(carried->second);
    const ir::Op* const made = ir::defining_op(program, value);
    if (made != nullptr) open.insert(open.end(), made->operands.begin(), made->operands.end());
  }
  return seen;
}

}  // namespace

bool is_of_indices(const ir::Program& program, ir::ValueId value) {
  std::set<ir::ValueId> seen;
  return is_made_of_indices(program, value, seen);
}

/// Whether a transfer op moves a value that is computed from indices alone. Each reader computes
/// that value itself, so the text moves nothing.
bool RoleSteps::hands_over_indices(plan::OpId op) const {
  if (!all_.what.origins[op.index()].forwards) return false;
  bool moves = false;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (it.to != op || !it.carries_value) continue;
    const auto& sources = all_.what.origins[it.from.index()].sources;
    const bool of_indices = std::all_of(sources.begin(), sources.end(), [&](const auto& source) {
      const auto& results = all_.what.kernel.op(source.op).results;
      return !results.empty() && is_of_indices(all_.what.kernel, results.front());
    });
    if (sources.empty() || !of_indices) return false;
    moves = true;
  }
  return moves;
}

/// The latest iteration among the products and tiles in shared memory from which a step's value is
/// computed. `held`: the role still has its own writes in registers.
std::optional<std::int64_t> RoleSteps::latest_in(plan::OpId op, std::int64_t iteration, bool held) {
  const auto [known, added] = latest_.try_emplace({op, iteration, held}, std::nullopt);
  if (!added) return known->second;
  std::optional<std::int64_t> latest;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (it.to != op || !it.carries_value || iteration < it.distance) continue;
    const auto made = made_by(it, iteration, held);
    if (made) latest = std::max(latest.value_or(*made), *made);
  }
  latest_[{op, iteration, held}] = latest;
  return latest;
}

/// The latest iteration for the value of one dependence, as read in an iteration.
std::optional<std::int64_t> RoleSteps::made_by(const problem::Dependence& it,
                                               std::int64_t iteration, bool held) {
  const std::int64_t from = iteration - it.distance;
  const plan::Mechanism how = plan_.mechanisms[it.from.index()];
  const auto buffer = plan::read_from(plan_, it.from, it.to);
  const bool shared =
      buffer && plan_[*buffer].residence == plan::Residence::shared && !(held && writes(*buffer));
  if (shared || how == plan::Mechanism::wgmma) return from;
  return how == plan::Mechanism::threads ? latest_in(it.from, from, held) : std::nullopt;
}

bool RoleSteps::is_made_of(plan::OpId op, std::int64_t iteration,
                           std::optional<std::int64_t> made) {
  return made == latest_in(op, iteration, false) || made == latest_in(op, iteration, true);
}

/// Whether one op of a step is computed from values of iteration `made`. An op may read fewer
/// values than the step does, and then values of earlier iterations.
bool RoleSteps::is_made_of(plan::OpId op, ir::OpId source, std::int64_t iteration,
                           std::optional<std::int64_t> made) {
  if (is_made_of(op, iteration, made)) return true;
  const ir::Program& kernel = all_.what.kernel;
  const auto values_of = [&](plan::OpId from) {
    std::set<ir::ValueId> values;
    for (const extract::Source& it : all_.what.origins[from.index()].sources) {
      const auto& results = kernel.op(it.op).results;
      values.insert(results.begin(), results.end());
    }
    return values;
  };
  std::map<plan::OpId, std::set<ir::ValueId>> handed;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (it.to == op && it.carries_value) handed.try_emplace(it.from, values_of(it.from));
  }
  if (handed.contains(op)) return false;
  const std::set<ir::ValueId> reached = taken_by(kernel, source, handed);
  std::optional<std::int64_t> latest;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (it.to != op || !it.carries_value || iteration < it.distance) continue;
    const auto& values = handed.at(it.from);
    const bool taken = std::any_of(values.begin(), values.end(),
                                   [&](ir::ValueId value) { return reached.contains(value); });
    const auto from = taken ? made_by(it, iteration, false) : std::nullopt;
    if (from) latest = std::max(latest.value_or(*from), *from);
  }
  return made == latest;
}

namespace {

/// Whether an op in a loop over tiles stands in no loop of the tile.
bool goes_to_next_tile(const ir::Program& module, ir::OpId op, int walks) {
  const std::vector<ir::OpId> ops = around(module, op);
  const auto loops = std::count_if(ops.begin(), ops.end(),
                                   [&](ir::OpId at) { return ir::is_loop(module.op(at).kind); });
  return loops <= walks;
}

}  // namespace

std::optional<std::int64_t> RoleSteps::iteration_of(const ir::Op& op) const {
  std::optional<std::int64_t> latest;
  for (const ir::ValueId operand : op.operands) {
    const auto found = made_in_.find(operand);
    if (found != made_in_.end()) latest = std::max(latest.value_or(found->second), found->second);
  }
  return latest;
}

void RoleSteps::forward(std::span<const ir::ValueId> from, std::span<const ir::ValueId> to) {
  std::vector<std::optional<std::int64_t>> iterations;
  for (const ir::ValueId value : from) {
    const auto found = made_in_.find(value);
    iterations.push_back(found == made_in_.end() ? std::nullopt : std::optional(found->second));
  }
  for (std::size_t i = 0; i < to.size() && i < from.size(); ++i) {
    made_in_.erase(to[i]);
    if (iterations[i]) made_in_[to[i]] = *iterations[i];
  }
}

/// Notes the iteration of an op's results, and the arithmetic.
void RoleSteps::note_result(ir::OpId id, std::optional<std::int64_t> latest) {
  const ir::Op& op = all_.what.module.op(id);
  if (op.results.empty()) return;
  const ir::OpClass of = ir::class_of(op.kind);
  if (of == ir::OpClass::elementwise || of == ir::OpClass::reduction) {
    const auto& shape = ir::type_of(all_.what.module, op.results.front())->shape;
    computed_.push_back({op.kind, latest, shape});
  }
  for (const ir::ValueId result : op.results) {
    made_in_.erase(result);
    if (latest) made_in_[result] = *latest;
  }
}

/// Notes a branch. A branch has the arithmetic of both its sides, and its results have the latest
/// iteration among its ops. Ops of the side that the role has entered are noted one by one.
void RoleSteps::carry_branch(ir::OpId branch, std::optional<ir::BlockId> entered) {
  const ir::Program& module = all_.what.module;
  std::optional<std::int64_t> latest;
  for (const ir::RegionId region : module.op(branch).regions) {
    for (const ir::BlockId block : module.region(region).blocks) {
      for (const ir::OpId inner : module.block(block).ops) {
        const ir::Op& op = module.op(inner);
        const auto of_inner = iteration_of(op);
        if (of_inner) latest = std::max(latest.value_or(*of_inner), *of_inner);
        if (block == entered) continue;
        if (op.kind == OpKind::branch) {
          carry_branch(inner, std::nullopt);
        } else {
          note_result(inner, of_inner);
        }
      }
    }
  }
  note_result(branch, latest);
}

void RoleSteps::carry(const concurrent::Role& state, ir::OpId id, bool left_aside) {
  const ir::Program& module = all_.what.module;
  const ir::Op& op = module.op(id);
  if (const auto loop = ir::as_loop(module, id)) {
    for (const ir::Carried& it : loop->carried) {
      forward(std::span(&it.init, 1), std::span(&it.argument, 1));
      if (it.result) forward(std::span(&it.init, 1), std::span(&*it.result, 1));
    }
    return;
  }
  if (op.kind == OpKind::wgmma_wait) return forward(op.operands, op.results);
  if (op.kind == OpKind::yield) {
    const auto around = ir::parent(module, id);
    const auto loop = around ? ir::as_loop(module, *around) : std::nullopt;
    if (around && !loop) return forward(op.operands, module.op(*around).results);
    std::vector<ir::ValueId> arguments;
    for (const ir::Carried& it : loop->carried) arguments.push_back(it.argument);
    forward(op.operands, arguments);
    if (goes_to_next_tile(module, id, all_.walks)) {  // there it is of no iteration
      for (const ir::ValueId argument : arguments) made_in_.erase(argument);
    }
    for (const ir::Carried& it : loop->carried) {
      if (it.result) forward(std::span(&it.argument, 1), std::span(&*it.result, 1));
    }
    return;
  }
  if (op.kind == OpKind::branch) {
    const bool enters = !state.frames.empty() && state.frames.back().op == id;
    return carry_branch(id, enters ? std::optional(state.frames.back().block) : std::nullopt);
  }
  if (op.kind == OpKind::shared_load) return;
  auto latest = iteration_of(op);
  const bool product = op.kind == OpKind::wgmma && next_ > 0;
  if (product) latest = steps_[next_ - 1].iteration;
  if (product && left_aside) latest.reset();
  note_result(id, latest);
}

/// Whether a tile has the shape of a whole tile, or of a part.
bool RoleSteps::is_of_shape(const std::vector<std::int64_t>& shape,
                            const std::vector<std::int64_t>& whole) const {
  int parts = 1;
  for (const extract::OpOrigin& origin : all_.what.origins) {
    parts = std::max(parts, origin.part + 1);
  }
  return std::equal(shape.begin(), shape.end(), whole.begin(), whole.end(),
                    [&](std::int64_t a, std::int64_t b) { return a == b || a * parts == b; });
}

/// Whether an op that belongs to an access, as its mask, is computed by a step of its own.
bool RoleSteps::has_own_step(const extract::Source& source) const {
  if (!source.absorbed) return false;
  return std::any_of(
      all_.what.origins.begin(), all_.what.origins.end(), [&](const extract::OpOrigin& origin) {
        return std::any_of(
            origin.sources.begin(), origin.sources.end(),
            [&](const extract::Source& it) { return it.op == source.op && !it.absorbed; });
      });
}

/// Checks that the role has done the step's arithmetic, for the step's iteration.
std::string RoleSteps::check_computed(const Placed& placed) {
  const plan::Step& step = *placed.step;
  if (is_of_branch(placed)) return {};
  if (step.kind != plan::StepKind::compute || all_.what.origins[step.op->index()].forwards)
    return {};
  for (const extract::Source& source : all_.what.origins[step.op->index()].sources) {
    const ir::Op& op = all_.what.kernel.op(source.op);
    const ir::OpClass of = ir::class_of(op.kind);
    if (of != ir::OpClass::elementwise && of != ir::OpClass::reduction) continue;
    const ir::Type type = ir::type_of(all_.what.kernel, op.results.front());
    const bool tile =
        type->kind == ir::TypeKind::tensor && type->element->kind == ir::TypeKind::floating;
    if (!tile || is_of_indices(all_.what.kernel, op.results.front())) continue;
    if (has_own_step(source)) continue;
    const auto is_it = [&](const Computed& it) {
      return it.kind == op.kind &&
             (!it.iteration || is_made_of(*step.op, source.op, placed.iteration, it.iteration));
    };
    auto found = std::find_if(computed_.begin(), computed_.end(), [&](const Computed& it) {
      return is_of_shape(it.shape, type->shape) && is_it(it);
    });
    const bool in_parts = all_.what.origins[step.op->index()].part >= 0;
    const auto once = std::pair(source.op, placed.instance);
    if (found == computed_.end() && in_parts && for_all_parts_.contains(once)) continue;
    if (found == computed_.end()) found = std::find_if(computed_.begin(), found, is_it);
    if (found != computed_.end()) {
      if (in_parts && found->shape == type->shape) for_all_parts_.insert(once);
      computed_.erase(found);
      continue;
    }
    return "the plan has \"" + words(placed) + "\" here, and the text has no " + op.name +
           " of that iteration";
  }
  return {};
}

}  // namespace twill::run
