#include "twill/report/verification.h"

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/report/summary.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

std::string rules(const problem::Problem& problem, bool in_force) {
  std::string names;
  for (int i = 0; i < problem::kRuleCount; ++i) {
    const auto rule = static_cast<problem::Rule>(i);
    if (problem.in_force(rule) != in_force) continue;
    if (!names.empty()) names += ", ";
    names += problem::name_of(rule);
  }
  return names;
}

}  // namespace

std::string verification(const Outcome& outcome) {
  const std::string what = outcome.problem.name();
  if (!outcome.violations.empty()) {
    const Cycles interval = outcome.answer.schedule->initiation_interval;
    // Line for an order: its schedule is the earliest at the least II that its sequences allow.
    std::string out =
        fmt::format("{}: {}; {} violation{} at II {} cycle{}\n", what,
                    outcome.notes.empty() ? "not a schedule" : "no schedule of this order is known",
                    outcome.violations.size(), outcome.violations.size() == 1 ? "" : "s", interval,
                    interval == 1 ? "" : "s");
    for (const std::string& violation : outcome.violations) out += "  " + violation + "\n";
    for (const std::string& note : outcome.notes) out += wrap(note, 100, "  ", "    ");
    return out;
  }
  std::string out = fmt::format("{}: verified, {}\n", what,
                                interval_line(outcome.problem, *outcome.answer.schedule));
  out += wrap(rules(outcome.problem, true), 100, "  obeys      ", "             ");
  if (!outcome.problem.relaxed().empty()) {
    out += wrap(rules(outcome.problem, false), 100, "  relaxed    ", "             ");
  }
  for (std::size_t i = 0; i < outcome.order_circuit.size(); ++i) {
    out += (i == 0 ? "  the order  " : "             ") + outcome.order_circuit[i] + "\n";
  }
  for (const std::string& note : outcome.notes) {
    out += wrap(note, 100, "  room       ", "             ");
  }
  const schedule::Bound& bound = outcome.answer.lower_bound;
  out += wrap(fmt::format("any schedule needs at least {}: {}", bound.value, bound.witness), 100,
              "  bound      ", "             ");
  return out;
}

}  // namespace twill::report
