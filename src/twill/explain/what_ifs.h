#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "twill/explain/requirement.h"
#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::explain {

/// What-if: something of a Problem that could be otherwise, in steps. A later step has all
/// schedules of an earlier step, and maybe more.
struct WhatIf {
  std::string what;       ///< "registers per thread of WG0 and WG1"
  std::string from;       ///< as it is: "148"; empty for what is there or not
  std::int64_t last = 1;  ///< the steps are 1 .. last; the last takes the limit away altogether
  std::function<std::string(std::int64_t)> value;    ///< of a step: "192"
  std::function<problem::Problem(std::int64_t)> at;  ///< the Problem changed by that step
  std::function<bool(const Requirement&)> touches;   ///< requirements that it may weaken
  /// The least step that this schedule of a later one needs; empty if that cannot be read off it.
  std::function<std::int64_t(const problem::Problem&, const schedule::Schedule&)> needed;
  std::int64_t typical = 0;  ///< a step that people ask for, "twice as fast"; 0: none
  bool of_op = false;        ///< about single ops rather than the machine
  std::string only_if;  ///< the `what` of an earlier what-if whose last step has all schedules of
                        ///< this last step; empty: none
};

/// Another Problem of the same loop, posed by the caller: another sub-tile, another pool. No
/// relation to the first Problem is assumed.
struct Variant {
  std::string what;  ///< "rows of a sub-tile"
  std::string from;
  std::string to;
  problem::Problem problem;
};

/// All what-ifs of a Problem. Capacities: registers and number of groups of each class, register
/// budgets, memories. Times: rates of units and pipes, time and latency of each op, all latencies,
/// all transfers. Also ops on other units, and rules. Interchangeable sub-tiles are changed
/// together.
std::vector<WhatIf> what_ifs_of(const problem::Problem& problem);

}  // namespace twill::explain
