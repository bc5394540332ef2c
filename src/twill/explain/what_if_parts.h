#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "twill/explain/what_ifs.h"

/// Internal to the what-ifs: their parts.
namespace twill::explain {

using Change = std::function<void(problem::Parts&, std::int64_t)>;

/// Makes a what-if from its change of the Parts.
WhatIf what_if(const problem::Problem& problem, std::string what, std::string from,
               std::int64_t last, Change change);

/// Whether one of these ops stores or loads for the transfer.
template <class Test>
bool any_transfer_op(const problem::Problem& problem, const Requirement& requirement, Test test) {
  if (requirement.kind != Kind::transfer_costs) return false;
  const problem::Transfer& it = problem.transfers()[requirement.index];
  return test(it.store) || std::any_of(it.loads.begin(), it.loads.end(),
                                       [&](const auto& load) { return test(load.op); });
}

/// Adds the what-ifs of registers and their budgets, groups and memories.
void add_capacity_what_ifs(const problem::Problem& problem, std::vector<WhatIf>& out);

}  // namespace twill::explain
