// Rule `blocking` (paper: section 4.3, Figure 6, Concurrency, which uses the whole duration).

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/verify/simulation.h"

namespace twill::verify {
namespace {

/// Reason why the op's issue blocks its group, by OpId; empty if it does not block.
std::vector<std::string> reasons_to_block(const Subject& subject) {
  std::vector<std::string> reasons(subject.op_count());
  for (const problem::Dependence& edge : subject.problem.dependences()) {
    std::string& reason = reasons[edge.to.index()];
    const bool crosses = subject.at(edge.from).group != subject.at(edge.to).group;
    const bool receives = edge.carries_value && subject.problem[edge.from].registers > 0;
    if (edge.blocking) {
      reason = "waits for " + subject.name(edge.from);
    } else if (crosses && receives && reason.empty()) {
      reason = "receives " + subject.name(edge.from) + " from another group";
    }
  }
  return reasons;
}

/// Compares issues of blocking ops (points) with issue windows of the other ops, both of all
/// iterations.
void report_hits(const Subject& subject, const std::vector<Span>& windows,
                 const std::vector<Span>& points, const std::vector<std::string>& reasons,
                 Findings& findings) {
  std::set<std::pair<OpId, OpId>> told;
  std::vector<Span> open;
  auto next = windows.begin();
  for (const Span& point : points) {
    for (; next != windows.end() && next->begin <= point.begin; ++next) open.push_back(*next);
    std::erase_if(open, [&](const Span& window) { return window.end <= point.begin; });
    for (const Span& window : open) {
      if (window.op == point.op || !told.emplace(point.op, window.op).second) continue;
      const bool more = findings.add(
          {"blocking",
           {point.op, window.op},
           point.begin,
           point.begin,
           window.end,
           fmt::format("blocking: {} {} and issues at cycle {} while {} of the same group is being "
                       "issued from {} to {}",
                       subject.name(point.op), reasons[point.op.index()], point.begin,
                       subject.name(window.op), window.begin, window.end)});
      if (!more) return;
    }
  }
}

}  // namespace

void check_blocking(const Subject& subject, Findings& findings) {
  const std::vector<std::string> reasons = reasons_to_block(subject);
  const Cycles interval = subject.interval();
  for (std::size_t g = 0; g < subject.problem.groups().size(); ++g) {
    const problem::GroupId group(g);
    std::vector<Span> windows;
    std::vector<Span> points;
    std::vector<Span> members;
    for (std::size_t i = 0; i < subject.op_count(); ++i) {
      const OpId op(i);
      const Cycles begin = subject.at(op).issue;
      if (subject.at(op).group != group) continue;
      members.push_back({op, begin, begin});
      // Cut at the interval: a window of that length meets every issue, and a longer window meets
      // no more.
      const Cycles issue = std::min(subject.alternative(op).issue, interval);
      if (issue > 0) windows.push_back({op, begin, begin + issue});
      if (!reasons[i].empty()) points.push_back({op, begin, begin});
    }
    const Cycles iterations = iterations_to_meet(members, interval);
    report_hits(subject, unrolled(windows, interval, iterations),
                unrolled(points, interval, iterations), reasons, findings);
  }
}

}  // namespace twill::verify
