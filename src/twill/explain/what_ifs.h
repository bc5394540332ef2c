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

/// What-if: a property of a Problem that could be different, in steps. A later step has all
/// schedules of an earlier step, and perhaps more.
struct WhatIf {
  std::string what;       ///< "registers per thread of WG0 and WG1"
  std::string from;       ///< present value: "148"; empty for things that are there or not
  std::int64_t last = 1;  ///< the steps are 1 .. last; the last removes the limit altogether
  std::function<std::string(std::int64_t)> value;    ///< text of a step: "192"
  std::function<problem::Problem(std::int64_t)> at;  ///< the Problem changed by that step
  std::function<bool(const Requirement&)> touches;   ///< requirements that the what-if may weaken
  /// Least step that this schedule of a later step needs; empty if the schedule does not show it.
  std::function<std::int64_t(const problem::Problem&, const schedule::Schedule&)> needed;
  std::int64_t typical = 0;  ///< a step that users ask for, "twice as fast"; 0: none
  bool of_op = false;        ///< concerns single ops rather than the machine
  std::string only_if;  ///< `what` of an earlier what-if whose last step has all schedules of this
                        ///< last step; empty: none
};

/// Another Problem of the same loop, posed by the caller: another sub-tile, another pool. No
/// relation to the first Problem is assumed.
struct Variant {
  std::string what;  ///< "rows of a sub-tile"
  std::string from;
  std::string to;
  problem::Problem problem;
};

/// Lists all what-ifs of a Problem. Capacities: registers and number of groups of each class,
/// register budgets, memories. Times: rates of units and pipes, time and latency of each op, all
/// latencies, all transfers. Also ops on other units, and rules. Interchangeable sub-tiles change
/// together.
std::vector<WhatIf> what_ifs_of(const problem::Problem& problem);

}  // namespace twill::explain
