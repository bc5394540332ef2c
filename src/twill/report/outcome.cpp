#include "twill/report/outcome.h"

#include <algorithm>

namespace twill::report {

Outcome::Outcome(const Outcome&) = default;
Outcome::Outcome(Outcome&&) noexcept = default;
Outcome& Outcome::operator=(const Outcome&) = default;
Outcome& Outcome::operator=(Outcome&&) noexcept = default;
Outcome::~Outcome() = default;

std::string limit_of(const schedule::Bound& bound) {
  std::string text(schedule::name_of(bound.kind));
  return bound.resource.empty() ? text : text + " " + bound.resource;
}

std::optional<Cycles> expected_within(const Bracket& bracket) {
  if (!bracket.expected) return std::nullopt;
  const Cycles most = bracket.slowest.value_or(*bracket.expected);
  return std::max(bracket.fastest, std::min(*bracket.expected, most));
}

std::string name_of(machine::Rate rate) {
  return rate == machine::Rate::fastest ? "fastest" : "slowest";
}

std::string scope_of(const Outcome& outcome) {
  std::string scope = "this dependence graph, these costs";
  if (!outcome.machine.empty()) scope += " of " + outcome.machine;
  if (outcome.rate == "fastest") scope += " with every op at its fastest";
  if (outcome.rate == "slowest") scope += " with every op at its slowest co-run rate";
  if (outcome.pools.size() > 1) {
    scope += ", these pools of warp groups (";
    for (std::size_t i = 0; i < outcome.pools.size(); ++i) {
      if (i > 0) scope += ", ";
      scope += outcome.pools[i];
    }
    scope += ")";
  } else {
    scope += ", this pool of warp groups";
    if (!outcome.pool.empty()) scope += " (" + outcome.pool + ")";
  }
  return scope + ", one CTA per SM";
}

}  // namespace twill::report
