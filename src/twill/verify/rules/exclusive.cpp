// Rules `unit` (paper: section 4.1, Figure 4, Capacity) and `one-stream`: resources for one op at a
// time.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/verify/simulation.h"

namespace twill::verify {
namespace {

struct SharedUnit {
  std::string rule;
  std::string holds;  // words of the violation: "holds unit TC"
  std::string takes;  // words of the violation: "takes unit TC"
};

Violation collision(const Subject& subject, const SharedUnit& resource, const Span& holder,
                    const Span& intruder) {
  return {resource.rule,
          {holder.op, intruder.op},
          intruder.begin,
          intruder.begin,
          holder.end,
          fmt::format("{}: {} {} at cycle {} while {} {} from {} to {}", resource.rule,
                      subject.name(intruder.op), resource.takes, intruder.begin,
                      subject.name(holder.op), resource.holds, holder.begin, holder.end)};
}

/// Violation of an op that still holds the resource when its own next iteration comes.
Violation self_collision(const Subject& subject, const SharedUnit& resource, const Span& span) {
  const Cycles held = span.end - span.begin;
  return {
      resource.rule,
      {span.op},
      span.begin + subject.interval(),
      held,
      subject.interval(),
      fmt::format("{}: {} {} for {} cycles, longer than the initiation interval {}", resource.rule,
                  subject.name(span.op), resource.holds, held, subject.interval())};
}

/// Sweeps over the instances by begin, and keeps those that have not ended. Reports each pair once.
void report_overlaps(const Subject& subject, const SharedUnit& resource, std::vector<Span> first,
                     Findings& findings) {
  for (Span& span : first) {
    if (span.end - span.begin <= subject.interval()) continue;
    if (!findings.add(self_collision(subject, resource, span))) return;
    // Cut at the interval: a span meets all that it can meet within one interval.
    span.end = span.begin + subject.interval();
  }
  const Cycles iterations = iterations_to_meet(first, subject.interval());
  std::set<std::pair<OpId, OpId>> told;
  std::vector<Span> holding;
  for (const Span& next : unrolled(first, subject.interval(), iterations)) {
    std::erase_if(holding, [&](const Span& span) { return span.end <= next.begin; });
    for (const Span& holder : holding) {
      if (!told.insert(std::minmax(holder.op, next.op)).second) continue;
      if (!findings.add(collision(subject, resource, holder, next))) return;
    }
    holding.push_back(next);
  }
}

}  // namespace

void check_units(const Subject& subject, Findings& findings) {
  for (std::size_t u = 0; u < subject.problem.units().size(); ++u) {
    const problem::UnitId unit(u);
    std::vector<Span> held;
    for (std::size_t i = 0; i < subject.op_count(); ++i) {
      const OpId op(i);
      const problem::Alternative& alternative = subject.alternative(op);
      if (alternative.unit != unit || alternative.occupancy == 0) continue;
      held.push_back({op, subject.at(op).issue, subject.at(op).issue + alternative.occupancy});
    }
    const std::string& name = subject.problem[unit].name;
    report_overlaps(subject, {"unit", "holds unit " + name, "takes unit " + name}, std::move(held),
                    findings);
  }
}

void check_one_stream(const Subject& subject, Findings& findings) {
  for (std::size_t g = 0; g < subject.problem.groups().size(); ++g) {
    const problem::GroupId group(g);
    std::vector<Span> issuing;
    for (std::size_t i = 0; i < subject.op_count(); ++i) {
      const OpId op(i);
      const Cycles issue = subject.alternative(op).issue;
      if (subject.at(op).group != group || issue == 0) continue;
      issuing.push_back({op, subject.at(op).issue, subject.at(op).issue + issue});
    }
    const std::string& name = subject.problem[group].name;
    report_overlaps(subject, {"one-stream", "occupies the issue of group " + name, "issues"},
                    std::move(issuing), findings);
  }
}

}  // namespace twill::verify
