#include "twill/problem/problem.h"

#include <algorithm>
#include <array>

namespace twill::problem {
namespace {

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "dependence", "unit",  "pipe",       "memory",   "placement",
    "registers",  "width", "load-group", "blocking", "one-stream"};
constexpr std::array<std::string_view, 3> kObjectiveNames = {"groups", "crossings", "length"};

}  // namespace

Parts::Parts() = default;
Parts::Parts(const Parts&) = default;
Parts::Parts(Parts&&) noexcept = default;
Parts& Parts::operator=(const Parts&) = default;
Parts& Parts::operator=(Parts&&) noexcept = default;
Parts::~Parts() = default;

std::string_view name_of(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

std::string_view name_of(Objective objective) {
  return kObjectiveNames[static_cast<std::size_t>(objective)];
}

std::optional<Objective> objective_named(std::string_view name) {
  const auto found = std::find(kObjectiveNames.begin(), kObjectiveNames.end(), name);
  if (found == kObjectiveNames.end()) return std::nullopt;
  return static_cast<Objective>(found - kObjectiveNames.begin());
}

Problem::Problem(Parts parts)
    : parts_(std::make_shared<const Parts>(std::move(parts))),
      ops_(parts_->ops),
      dependences_(parts_->dependences),
      groups_(parts_->groups) {}

const std::string& Problem::name() const { return parts_->name; }

bool operator==(const Problem& one, const Problem& other) {
  return one.parts_ == other.parts_ || *one.parts_ == *other.parts_;
}

bool Problem::in_force(Rule rule) const {
  if (rule == Rule::placement && !in_force(Rule::memory)) return false;
  return std::find(parts_->relaxed.begin(), parts_->relaxed.end(), rule) == parts_->relaxed.end();
}

std::optional<std::size_t> Problem::budget_of(GroupId group) const {
  for (std::size_t i = 0; i < parts_->register_budgets.size(); ++i) {
    const std::vector<GroupId>& groups = parts_->register_budgets[i].groups;
    if (std::find(groups.begin(), groups.end(), group) != groups.end()) return i;
  }
  return std::nullopt;
}

Cycles delay_of(const Dependence& dependence, const Op& from, const Alternative& from_alternative) {
  if (dependence.delay) return *dependence.delay;
  return from.streaming ? 0 : from_alternative.latency;
}

Cycles read_hold_of(const Dependence& dependence, const Op& to, const Alternative& to_alternative) {
  if (dependence.read_hold) return *dependence.read_hold;
  return to.asynchronous && !dependence.in_place ? to_alternative.latency : 0;
}

Cycles span_of(const Alternative& alternative) {
  return std::max({alternative.occupancy, alternative.issue, Cycles{1}});
}

}  // namespace twill::problem
