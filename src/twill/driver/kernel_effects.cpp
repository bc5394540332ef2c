#include "twill/driver/kernel_effects.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "twill/extract/effects.h"
#include "twill/extract/memory_order.h"
#include "twill/ir/effects.h"
#include "twill/ir/op_kind.h"
#include "twill/ir/operands.h"
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

namespace {

/// The op's access, if it writes to global memory.
std::optional<ir::MemoryAccess> global_write(const ir::Program& program, ir::OpId op) {
  const auto access = ir::memory_access(program.op(op));
  const bool writes = access && access->writes && access->space == ir::AccessSpace::global;
  return writes ? access : std::nullopt;
}

/// The roles that write to global memory by an op of the loop, for some rows; by op.
std::map<ir::OpId, std::set<plan::RoleId>> writers_in(const ir::Program& program,
                                                      const report::Outcome& outcome,
                                                      const plan::Plan& draft) {
  std::map<ir::OpId, std::set<plan::RoleId>> writers;
  for (std::size_t v = 0; v < outcome.origins.size(); ++v) {
    const auto role = plan::role_of(draft, plan::OpId(v));
    if (!role) continue;
    for (const extract::Source& source : outcome.origins[v].sources) {
      if (global_write(program, source.op)) writers[source.op].insert(*role);
    }
  }
  return writers;
}

}  // namespace

std::optional<Diagnostic> order_refusal(const Kernel& kernel, const report::Outcome& outcome,
                                        const plan::Plan& draft) {
  if (!draft.kernel) return std::nullopt;
  const ir::Program& program = kernel.program;
  const auto writers = writers_in(program, outcome, draft);
  if (writers.empty()) return std::nullopt;
  std::map<std::pair<int, int>, const plan::PerTileOp*> around;
  for (const plan::PerTileOp& it : draft.kernel->per_tile_ops) {
    if (it.writes && !it.alone) around.emplace(std::pair(it.line, it.column), &it);
  }
  const auto planned_with = [&](ir::OpId op) {
    auto found = around.find({program.op(op).line, program.op(op).column});
    for (auto at = ir::parent(program, op); found == around.end() && at;
         at = ir::parent(program, *at)) {
      found = around.find({program.op(*at).line, program.op(*at).column});
    }
    return found == around.end() ? nullptr : found->second;
  };
  for (const ir::OpId op : ir::walk(program, program.module())) {
    const auto access = global_write(program, op);
    if (!access || ir::is_inside(program, op, kernel.choice.loop)) continue;
    const plan::PerTileOp* const planned = planned_with(op);
    if (planned == nullptr) continue;
    for (const auto& [inside, roles] : writers) {
      if (!extract::conflict(program, inside, op) ||
          !extract::share_array(program, global_write(program, inside)->address, access->address)) {
        continue;
      }
      const auto& by = planned->roles;
      const bool own = std::all_of(by.begin(), by.end(),
                                   [&](plan::RoleId role) { return roles.contains(role); });
      if (own && by.size() == roles.size()) continue;
      return Diagnostic{ir::text_location(program, op),
                        program.op(op).name + " may touch what " + ir::op_words(program, inside) +
                            " touches in the loop, in another role: no plan keeps that order",
                        "give the kernel an argument for each, if they never meet", ""};
    }
  }
  return std::nullopt;
}

namespace {

std::optional<ir::OpId> op_at(const ir::Program& program, const plan::Place& place) {
  for (const ir::OpId op : ir::walk(program, program.module())) {
    if (program.op(op).line == place.line && program.op(op).column == place.column) return op;
  }
  return std::nullopt;
}

/// Whether an op belongs to a software pipeline: an asynchronous copy, or an op that orders copies
/// and products. Barriers of all threads and waits for other launches do not.
bool is_of_pipeline(ir::OpKind kind) {
  if (kind == ir::OpKind::synchronize || kind == ir::OpKind::launch_order) return false;
  const ir::OpClass of = ir::class_of(kind);
  return of == ir::OpClass::synchronization || of == ir::OpClass::copy;
}

/// Whether a plan may omit an operation with its effects. Either only people see them, or they
/// belong to the text's pipeline, which the plan's own pipeline replaces.
bool may_be_left_out(const ir::Program& program, ir::OpId id, bool is_pipelined) {
  bool acts = false;
  for (const ir::OpId at : ir::walk(program, id)) {
    if (!ir::is_effect(program, at)) continue;
    const ir::Op& op = program.op(at);
    const bool pipelines = is_pipelined && is_of_pipeline(op.kind);
    if (ir::effect_of(op) != ir::Effect::remark && !pipelines) return false;
    acts = true;
  }
  return acts;
}

}  // namespace

std::optional<Diagnostic> objection_to_effects(const Kernel& kernel, const plan::Plan& draft,
                                               bool is_pipelined) {
  if (!draft.kernel) return std::nullopt;
  for (const plan::Whole& whole : draft.kernel->wholes) {
    const auto op = op_at(kernel.program, whole.place);
    if (whole.objection.empty()) continue;
    if (!op) return Diagnostic{{}, whole.place.what + " " + whole.objection, "", ""};
    if (may_be_left_out(kernel.program, *op, is_pipelined)) continue;
    return Diagnostic{
        ir::text_location(kernel.program, *op),
        kernel.program.op(*op).name + " " + whole.objection + ir::source_words(kernel.program, *op),
        "", ""};
  }
  return std::nullopt;
}

}  // namespace twill::driver
