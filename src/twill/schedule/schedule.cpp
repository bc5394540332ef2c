#include "twill/schedule/schedule.h"

#include <algorithm>

namespace twill::schedule {

Cycles stage_of(const Schedule& schedule, OpId op) {
  return schedule.ops[op.index()].issue / schedule.initiation_interval;
}

Cycles slot_of(const Schedule& schedule, OpId op) {
  return schedule.ops[op.index()].issue % schedule.initiation_interval;
}

Cycles length_of(const problem::Problem& problem, const Schedule& schedule) {
  Cycles length = 0;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Placement& at = schedule.ops[i];
    const problem::Way& way = problem.ops()[i].ways[static_cast<std::size_t>(at.way)];
    length = std::max(length, at.issue + problem::span_of(way));
  }
  return length;
}

Cycles stage_count(const problem::Problem& problem, const Schedule& schedule) {
  const Cycles ii = schedule.initiation_interval;
  return (length_of(problem, schedule) + ii - 1) / ii;
}

std::string_view name_of(BoundKind kind) {
  switch (kind) {
    case BoundKind::unit: return "unit";
    case BoundKind::pipe: return "pipe";
    case BoundKind::circuit: return "circuit";
    case BoundKind::op: return "op";
    case BoundKind::issue: return "issue";
    case BoundKind::search: return "search";
    case BoundKind::trivial: return "trivial";
  }
  return "unknown";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::optimal: return "optimal";
    case Verdict::feasible: return "feasible";
    case Verdict::infeasible: return "infeasible";
    case Verdict::undecided: return "undecided";
  }
  return "unknown";
}

}  // namespace twill::schedule
