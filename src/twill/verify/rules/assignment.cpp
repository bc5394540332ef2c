// Rules `width`, `load-group` (paper: section 4.3, Figure 6, Variable Latency), `minimum-groups` and
// `same-group`: the group of each op.

#include <algorithm>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/verify/simulation.h"

namespace twill::verify {

void check_widths(const Subject& subject, Findings& findings) {
  for (std::size_t i = 0; i < subject.op_count(); ++i) {
    const problem::Op& op = subject.problem.ops()[i];
    const problem::Group& group = subject.problem[subject.at(OpId(i)).group];
    if (op.warps == group.warps) continue;
    const bool more =
        findings.add({"width",
                      {OpId(i)},
                      0,
                      group.warps,
                      op.warps,
                      fmt::format("width: {} needs exactly {} warps, but group {} has {}", op.name,
                                  op.warps, group.name, group.warps)});
    if (!more) return;
  }
}

void check_load_groups(const Subject& subject, Findings& findings) {
  for (std::size_t i = 0; i < subject.op_count(); ++i) {
    const problem::Op& op = subject.problem.ops()[i];
    const problem::Group& group = subject.problem[subject.at(OpId(i)).group];
    if (op.variable_latency == group.loads) continue;
    const char* what = op.variable_latency
                           ? "load-group: {} has variable latency, but group {} is not for loads"
                           : "load-group: {} is no load, but group {} is for loads only";
    const bool more = findings.add({"load-group",
                                    {OpId(i)},
                                    0,
                                    group.loads,
                                    op.variable_latency,
                                    fmt::format(fmt::runtime(what), op.name, group.name)});
    if (!more) return;
  }
}

void check_minimum_groups(const Subject& subject, Findings& findings) {
  int width = 0;
  for (const problem::Group& group : subject.problem.groups()) {
    if (!group.loads) width = std::max(width, group.warps);
  }
  std::int64_t pool = 0;
  std::int64_t used = 0;
  for (std::size_t g = 0; g < subject.problem.groups().size(); ++g) {
    const problem::Group& group = subject.problem.groups()[g];
    if (group.loads || group.warps != width) continue;
    ++pool;
    const auto& placements = subject.schedule.ops;
    used += std::any_of(placements.begin(), placements.end(), [&](const schedule::Placement& at) {
      return at.group == problem::GroupId(g);
    });
  }
  const auto ops = subject.problem.ops();
  const std::int64_t computes = std::count_if(ops.begin(), ops.end(), [&](const problem::Op& op) {
    return !op.variable_latency && op.warps == width;
  });
  const std::int64_t least =
      std::min({std::int64_t{subject.problem.minimum_compute_groups()}, pool, computes});
  if (used >= least) return;
  findings.add(
      {"minimum-groups",
       {},
       0,
       used,
       least,
       fmt::format("minimum-groups: {} compute groups have ops, at least {} must", used, least)});
}

void check_same_groups(const Subject& subject, Findings& findings) {
  const auto group_of = [&](OpId op) { return subject.at(op).group; };
  for (const std::vector<OpId>& ops : subject.problem.same_group()) {
    const auto other = std::find_if(ops.begin(), ops.end(), [&](OpId op) {
      return group_of(op) != group_of(ops.front());
    });
    if (other == ops.end()) continue;
    const bool more = findings.add(
        {"same-group",
         {ops.front(), *other},
         0,
         static_cast<std::int64_t>(group_of(*other).index()),
         static_cast<std::int64_t>(group_of(ops.front()).index()),
         fmt::format("same-group: {} runs in group {}, but {}, which must run in the same group, in {}",
                     subject.problem[ops.front()].name,
                     subject.problem[group_of(ops.front())].name, subject.problem[*other].name,
                     subject.problem[group_of(*other)].name)});
    if (!more) return;
  }
}

}  // namespace twill::verify
