#include "twill/verify/verify.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "twill/problem/transfer.h"
#include "twill/verify/simulation.h"

namespace twill::verify {
namespace {

using problem::Rule;

Violation malformed(std::vector<OpId> ops, std::int64_t value, std::int64_t limit,
                    std::string what) {
  return {"well-formed", std::move(ops), 0, value, limit, "well-formed: " + std::move(what)};
}

void check_op(const Problem& problem, const Schedule& schedule, OpId op, Findings& findings) {
  const schedule::Placement& at = schedule.ops[op.index()];
  const std::string& name = problem[op].name;
  const auto alternatives = static_cast<std::int64_t>(problem[op].alternatives.size());
  const auto groups = static_cast<std::int64_t>(problem.groups().size());
  const auto group = static_cast<std::int64_t>(at.group.index());
  if (at.issue < 0 || at.issue > kLargestCycle) {
    findings.add(malformed(
        {op}, at.issue, kLargestCycle,
        fmt::format("{} issues at cycle {}, outside 0..{}", name, at.issue, kLargestCycle)));
  }
  if (at.alternative < 0 || at.alternative >= alternatives) {
    findings.add(malformed(
        {op}, at.alternative, alternatives,
        fmt::format("{} takes alternative {}, but has {}", name, at.alternative, alternatives)));
  }
  if (group >= groups) {
    findings.add(
        malformed({op}, group, groups,
                  fmt::format("{} runs in group {}, but the pool has {}", name, group, groups)));
  }
}

/// Checks addresses: each is given once, for a value that occupies the memory.
void check_addresses(const Problem& problem, const Schedule& schedule, Findings& findings) {
  std::set<std::pair<OpId, problem::MemoryId>> seen;
  for (const schedule::Address& it : schedule.addresses) {
    const bool exists = it.value.index() < problem.ops().size();
    const std::string name = exists ? problem[it.value].name : "an op that does not exist";
    const auto in_it = [&](const problem::Footprint& each) { return each.memory == it.memory; };
    if (!exists || !std::any_of(problem[it.value].footprint.begin(),
                                problem[it.value].footprint.end(), in_it)) {
      findings.add(
          malformed({}, 0, 0, name + " has an offset in a memory that it does not occupy"));
    } else if (it.offset < 0 || it.offset > problem::kLargestNumber) {
      findings.add(malformed(
          {it.value}, it.offset, problem::kLargestNumber,
          fmt::format("{} begins at {}, outside 0..{}", name, it.offset, problem::kLargestNumber)));
    } else if (!seen.emplace(it.value, it.memory).second) {
      findings.add(malformed({it.value}, 0, 0, name + " has two offsets in one memory"));
    }
  }
}

void check_form(const Problem& problem, const Schedule& schedule, Findings& findings) {
  const Cycles interval = schedule.initiation_interval;
  const auto placed = static_cast<std::int64_t>(schedule.ops.size());
  const auto ops = static_cast<std::int64_t>(problem.ops().size());
  if (interval < 1 || interval > kLargestCycle) {
    findings.add(malformed(
        {}, interval, kLargestCycle,
        fmt::format("the initiation interval is {}, outside 1..{}", interval, kLargestCycle)));
  }
  if (placed != ops) {
    findings.add(
        malformed({}, placed, ops,
                  fmt::format("the schedule places {} ops, the problem has {}", placed, ops)));
    return;
  }
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    check_op(problem, schedule, OpId(i), findings);
  }
  check_addresses(problem, schedule, findings);
}

/// Refuses schedules that need too many instances: every rule lays out at least stages times ops.
void check_size(const Subject& subject, Findings& findings) {
  Cycles last = 0;
  for (const schedule::Placement& at : subject.schedule.ops) last = std::max(last, at.issue);
  const Cycles stages = last / subject.interval() + 1;
  const Cycles most = kMostInstances / std::max<Cycles>(1, static_cast<Cycles>(subject.op_count()));
  if (stages <= most) return;
  findings.add({"size",
                {},
                last,
                stages,
                most,
                fmt::format("size: {} stages of {} ops are more than the {} instances that are "
                            "simulated; at most {} stages can be checked",
                            stages, subject.op_count(), kMostInstances, most)});
}

/// Checks rule `transfer`: transfer ops exist exactly if a value crosses, and share the group of
/// their op.
void check_transfers(const Problem& problem, const Schedule& schedule, Findings& findings) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  const std::vector<problem::GroupId> groups = schedule::groups_of(schedule);
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (!transfer_ops[i]) continue;
    const OpId home = transfer_ops[i]->home;
    const bool needed = problem::is_needed(*transfer_ops[i], groups);
    const schedule::Placement& at = schedule.ops[i];
    const std::string& name = problem.ops()[i].name;
    std::string message;
    if (at.exists && !needed) {
      message =
          fmt::format("transfer-op: {} is scheduled, but what it moves stays in its group", name);
    } else if (!at.exists && needed) {
      message =
          fmt::format("transfer-op: {} is missing, but what it moves goes to another group", name);
    } else if (at.exists && at.group != groups[home.index()]) {
      message = fmt::format("transfer-op: {} runs in group {}, but {}, with which it goes, in {}",
                            name, problem[at.group].name, problem[home].name,
                            problem[groups[home.index()]].name);
    }
    if (message.empty()) continue;
    if (!findings.add({"transfer-op", {OpId(i), home}, 0, at.exists, needed, std::move(message)})) {
      return;
    }
  }
}

struct RuleCheck {
  Rule rule;
  void (*check)(const Subject&, Findings&);
};

constexpr std::array<RuleCheck, problem::kRuleCount> kRuleChecks = {{
    {Rule::dependence, check_dependences},
    {Rule::unit, check_units},
    {Rule::pipe, check_pipes},
    {Rule::memory, check_memories},
    {Rule::placement, check_placement},
    {Rule::registers, check_registers},
    {Rule::width, check_widths},
    {Rule::load_group, check_load_groups},
    {Rule::blocking, check_blocking},
    {Rule::one_stream, check_one_stream},
}};

/// Checks all rules on a problem without transfers.
void check_rules(const Problem& problem, const Schedule& schedule, Findings& findings) {
  const Subject subject{problem, schedule};
  for (const RuleCheck& rule : kRuleChecks) {
    if (problem.in_force(rule.rule)) rule.check(subject, findings);
  }
  check_minimum_groups(subject, findings);
  check_same_groups(subject, findings);
}

/// Runs a check and returns its violations.
template <class Check>
std::vector<Violation> found_by(Check check) {
  Findings findings;
  check(findings);
  return std::move(findings).take();
}

}  // namespace

tl::expected<CheckedSchedule, std::vector<Violation>> verify(const Problem& problem,
                                                             const Schedule& schedule) {
  std::vector<Violation> found =
      found_by([&](Findings& findings) { check_form(problem, schedule, findings); });
  if (!found.empty()) return tl::unexpected(std::move(found));
  found = found_by([&](Findings& findings) { check_size({problem, schedule}, findings); });
  if (!found.empty()) return tl::unexpected(std::move(found));
  if (problem.transfers().empty()) {
    found = found_by([&](Findings& findings) { check_rules(problem, schedule, findings); });
  } else {
    found = found_by([&](Findings& findings) { check_transfers(problem, schedule, findings); });
    if (!found.empty()) return tl::unexpected(std::move(found));
    const problem::Residual left = problem::residual_of(problem, schedule::groups_of(schedule));
    const Schedule of_left = schedule::in_residual(left, schedule);
    found = found_by([&](Findings& findings) { check_rules(left.problem, of_left, findings); });
    for (Violation& it : found) {
      for (OpId& op : it.ops) op = left.ops[op.index()];
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return CheckedSchedule(problem, schedule);
}

}  // namespace twill::verify
