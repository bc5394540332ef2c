#include "twill/schedule/schedule.h"

#include <algorithm>
#include <tuple>

#include "twill/problem/transfer.h"

namespace twill::schedule {

std::vector<GroupId> groups_of(const Schedule& schedule) {
  std::vector<GroupId> groups;
  for (const Placement& it : schedule.ops) groups.push_back(it.group);
  return groups;
}

bool comes_before(const Address& a, const Address& b) {
  return std::tie(a.value, a.memory) < std::tie(b.value, b.memory);
}

std::optional<Amount> offset_of(const Schedule& schedule, OpId value, MemoryId memory) {
  for (const Address& it : schedule.addresses) {
    if (it.value == value && it.memory == memory) return it.offset;
  }
  return std::nullopt;
}

Schedule in_residual(const problem::Residual& to, const Schedule& schedule) {
  Schedule out{schedule.initiation_interval, {}};
  for (const OpId op : to.ops) out.ops.push_back(schedule.ops[op.index()]);
  for (const Address& it : schedule.addresses) {
    const auto kept = std::find(to.ops.begin(), to.ops.end(), it.value);
    if (kept == to.ops.end()) continue;
    out.addresses.push_back(it);
    out.addresses.back().value = OpId(static_cast<std::size_t>(kept - to.ops.begin()));
  }
  return out;
}

Schedule completed(const problem::Problem& problem, const problem::Residual& from,
                   const Schedule& schedule) {
  Placement missing;
  missing.exists = false;
  Schedule out{schedule.initiation_interval, {}};
  out.ops.assign(problem.ops().size(), missing);
  for (std::size_t i = 0; i < from.ops.size(); ++i) out.ops[from.ops[i].index()] = schedule.ops[i];
  out.addresses = schedule.addresses;
  for (Address& it : out.addresses) it.value = from.ops[it.value.index()];
  return at_home(problem, std::move(out));
}

Schedule at_home(const problem::Problem& problem, Schedule schedule) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (!transfer_ops[i] || schedule.ops[i].exists) continue;
    schedule.ops[i] = schedule.ops[transfer_ops[i]->home.index()];
    schedule.ops[i].alternative = 0;
    schedule.ops[i].exists = false;
  }
  return schedule;
}

Schedule with_existence(const problem::Problem& problem, Schedule schedule) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  const std::vector<GroupId> groups = groups_of(schedule);
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (transfer_ops[i]) schedule.ops[i].exists = problem::is_needed(*transfer_ops[i], groups);
  }
  return at_home(problem, std::move(schedule));
}

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
    if (!at.exists) continue;
    const problem::Alternative& alternative =
        problem.ops()[i].alternatives[static_cast<std::size_t>(at.alternative)];
    length = std::max(length, at.issue + problem::span_of(alternative));
  }
  return length;
}

Cycles stage_count(const problem::Problem& problem, const Schedule& schedule) {
  const Cycles ii = schedule.initiation_interval;
  return (length_of(problem, schedule) + ii - 1) / ii;
}

std::string_view name_of(BoundKind kind) {
  switch (kind) {
    case BoundKind::unit:
      return "unit";
    case BoundKind::pipe:
      return "pipe";
    case BoundKind::circuit:
      return "circuit";
    case BoundKind::op:
      return "op";
    case BoundKind::issue:
      return "issue";
    case BoundKind::search:
      return "search";
    case BoundKind::trivial:
      return "trivial";
  }
  return "unknown";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::optimal:
      return "optimal";
    case Verdict::feasible:
      return "feasible";
    case Verdict::infeasible:
      return "infeasible";
    case Verdict::undecided:
      return "undecided";
  }
  return "unknown";
}

}  // namespace twill::schedule
