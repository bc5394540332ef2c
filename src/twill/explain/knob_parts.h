#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "twill/explain/knobs.h"

/// Internal to the knobs: what they are made of.
namespace twill::explain {

using Change = std::function<void(problem::Parts&, std::int64_t)>;

/// Makes a what-if from its change of the Parts.
Knob knob(const problem::Problem& problem, std::string what, std::string from, std::int64_t last,
          Change change);

/// Whether one of these ops stores or loads for the transfer.
template <class Test>
bool any_errand(const problem::Problem& problem, const Member& member, Test test) {
  if (member.kind != Kind::hand_off) return false;
  const problem::HandOff& it = problem.hand_offs()[member.index];
  return test(it.store) || std::any_of(it.loads.begin(), it.loads.end(),
                                       [&](const auto& load) { return test(load.op); });
}

/// Registers and their budgets, groups, memories.
void add_capacity_knobs(const problem::Problem& problem, std::vector<Knob>& out);

}  // namespace twill::explain
