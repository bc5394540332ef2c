#include "twill/schedule/bounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/transfer.h"
#include "twill/schedule/pool_class.h"
#include "twill/schedule/recurrence.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::DependenceId;
using problem::Op;
using problem::PipeId;
using problem::Problem;
using problem::Rule;
using problem::UnitId;

/// Most ops that the text of a witness names; `Bound::ops` has all of them.
constexpr std::size_t kShown = 12;

/// The least cost of an op over its alternatives.
template <class CostOf>
Cycles least(const Op& op, CostOf cost_of) {
  Cycles value = std::numeric_limits<Cycles>::max();
  for (const Alternative& alternative : op.alternatives)
    value = std::min(value, cost_of(alternative));
  return value;
}

Cycles demand_on(const Alternative& alternative, PipeId pipe) {
  for (const problem::PipeUse& use : alternative.pipes) {
    if (use.pipe == pipe) return use.demand;
  }
  return 0;
}

/// Ops, and the contribution of each to a sum.
struct Load {
  Cycles total = 0;
  std::vector<OpId> ops;
  std::vector<Cycles> amounts;

  void add(OpId op, Cycles amount) {
    if (amount == 0) return;
    total += amount;
    ops.push_back(op);
    amounts.push_back(amount);
  }
};

/// Writes a sum with its largest terms: "qkA 512 + pvA 512 + 3 more = 2048".
std::string sum_of(const Problem& problem, const Load& load) {
  const std::size_t shown = load.ops.size() <= kShown ? load.ops.size() : kShown - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += " + ";
    text += fmt::format("{} {}", problem[load.ops[i]].name, load.amounts[i]);
  }
  if (shown < load.ops.size()) text += fmt::format(" + {} more", load.ops.size() - shown);
  return text + fmt::format(" = {}", load.total);
}

template <class CostOf>
Load load_of(const Problem& problem, CostOf cost_of) {
  Load load;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    load.add(OpId(i), least(problem.ops()[i], cost_of));
  }
  return load;
}

void add_units(const Problem& problem, std::vector<Bound>& out) {
  if (!problem.in_force(Rule::unit)) return;
  for (std::size_t u = 0; u < problem.units().size(); ++u) {
    const std::string& name = problem.units()[u].name;
    const Load load = load_of(problem, [&](const Alternative& alternative) {
      return alternative.unit == UnitId(u) ? alternative.occupancy : Cycles{0};
    });
    if (load.total == 0) continue;
    out.push_back({load.total, BoundKind::unit, name, load.ops,
                   fmt::format("{}: {}", name, sum_of(problem, load))});
  }
}

void add_pipes(const Problem& problem, std::vector<Bound>& out) {
  if (!problem.in_force(Rule::pipe)) return;
  for (std::size_t p = 0; p < problem.pipes().size(); ++p) {
    const std::string& name = problem.pipes()[p].name;
    const Load load = load_of(
        problem, [&](const Alternative& alternative) { return demand_on(alternative, PipeId(p)); });
    if (load.total == 0) continue;
    out.push_back({load.total, BoundKind::pipe, name, load.ops,
                   fmt::format("{}: {}", name, sum_of(problem, load))});
  }
}

std::string plural(Cycles count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Bound bound_of(const Problem& problem, const Recurrence& recurrence) {
  Bound bound{recurrence.interval(), BoundKind::circuit, "", {}, "circuit "};
  for (const DependenceId id : recurrence.circuit) bound.ops.push_back(problem[id].from);
  const std::size_t shown = bound.ops.size() <= kShown ? bound.ops.size() : kShown - 1;
  for (std::size_t i = 0; i < shown; ++i) bound.witness += problem[bound.ops[i]].name + " -> ";
  if (shown < bound.ops.size()) {
    bound.witness += fmt::format("{} more -> ", bound.ops.size() - shown);
  }
  bound.witness +=
      fmt::format("{}: {} / {}", problem[bound.ops.front()].name, plural(recurrence.delay, "cycle"),
                  plural(recurrence.distance, "iteration"));
  if (recurrence.distance > 1) bound.witness += fmt::format(" = {}", bound.value);
  return bound;
}

void add_worst_circuit(const Problem& problem, std::vector<Bound>& out) {
  if (!problem.in_force(Rule::dependence)) return;
  if (const auto worst = critical_recurrence(problem)) out.push_back(bound_of(problem, *worst));
}

void add_circuits(const Problem& problem, std::vector<Bound>& out) {
  if (!problem.in_force(Rule::dependence)) return;
  for (const Recurrence& it : critical_recurrences(problem)) out.push_back(bound_of(problem, it));
}

/// Cycles for which an op, by this alternative, keeps any single resource to itself.
Cycles longest_hold(const Problem& problem, const Alternative& alternative) {
  Cycles cycles = 0;
  if (problem.in_force(Rule::unit)) cycles = std::max(cycles, alternative.occupancy);
  if (problem.in_force(Rule::one_stream)) cycles = std::max(cycles, alternative.issue);
  if (!problem.in_force(Rule::pipe)) return cycles;
  for (const problem::PipeUse& use : alternative.pipes) cycles = std::max(cycles, use.demand);
  return cycles;
}

void add_ops(const Problem& problem, std::vector<Bound>& out) {
  const Load load = load_of(
      problem, [&](const Alternative& alternative) { return longest_hold(problem, alternative); });
  for (std::size_t i = 0; i < load.ops.size(); ++i) {
    const std::string& name = problem[load.ops[i]].name;
    out.push_back({load.amounts[i],
                   BoundKind::op,
                   name,
                   {load.ops[i]},
                   fmt::format("{} alone: {}", name, plural(load.amounts[i], "cycle"))});
  }
}

void add_longest_op(const Problem& problem, std::vector<Bound>& out) {
  std::vector<Bound> all;
  add_ops(problem, all);
  const auto longest = std::max_element(
      all.begin(), all.end(), [](const Bound& a, const Bound& b) { return a.value < b.value; });
  if (longest != all.end()) out.push_back(std::move(*longest));
}

void add_issue(const Problem& problem, std::vector<Bound>& out) {
  if (!problem.in_force(Rule::one_stream)) return;
  for (const PoolClass& it : pool_classes(problem)) {
    if (it.groups.empty()) continue;
    Load load;
    for (const OpId op : it.ops) {
      load.add(
          op, least(problem[op], [](const Alternative& alternative) { return alternative.issue; }));
    }
    if (load.total == 0) continue;
    const auto group_count = static_cast<Cycles>(it.groups.size());
    const Cycles value = (load.total + group_count - 1) / group_count;
    std::string witness = fmt::format("issue in {}: {}", it.description, sum_of(problem, load));
    if (group_count > 1) witness += fmt::format(", / {} groups = {}", group_count, value);
    out.push_back({value, BoundKind::issue, it.description, load.ops, std::move(witness)});
  }
}

std::vector<Bound> largest_first(std::vector<Bound> bounds) {
  bounds.push_back({1, BoundKind::trivial, "", {}, "one iteration takes at least 1 cycle"});
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.value > b.value; });
  return bounds;
}

/// Bounds of a Problem with transfer ops: bounds of the part that exists for every choice of
/// groups.
template <class BoundsOf>
std::vector<Bound> of_common_part(const Problem& problem, BoundsOf bounds_of) {
  const problem::Residual part = problem::common_part(problem);
  std::vector<Bound> bounds = bounds_of(part.problem);
  for (Bound& bound : bounds) {
    for (OpId& op : bound.ops) op = part.ops[op.index()];
  }
  return bounds;
}

}  // namespace

std::vector<Bound> lower_bounds(const Problem& problem) {
  if (!problem.transfers().empty()) return of_common_part(problem, lower_bounds);
  std::vector<Bound> bounds;
  add_units(problem, bounds);
  add_pipes(problem, bounds);
  add_worst_circuit(problem, bounds);
  add_longest_op(problem, bounds);
  add_issue(problem, bounds);
  return largest_first(std::move(bounds));
}

std::vector<Bound> all_lower_bounds(const Problem& problem) {
  if (!problem.transfers().empty()) return of_common_part(problem, all_lower_bounds);
  std::vector<Bound> bounds;
  add_units(problem, bounds);
  add_pipes(problem, bounds);
  add_circuits(problem, bounds);
  add_ops(problem, bounds);
  add_issue(problem, bounds);
  return largest_first(std::move(bounds));
}

Bound min_ii(const Problem& problem) { return lower_bounds(problem).front(); }

}  // namespace twill::schedule
