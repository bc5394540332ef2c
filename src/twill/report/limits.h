#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/report/launch.h"
#include "twill/report/outcome.h"
#include "twill/schedule/schedule.h"

namespace twill::report {

/// The bounds of a loop under one set of costs.
struct RatedBounds {
  explicit RatedBounds(problem::Problem what) : problem(std::move(what)) {}

  std::string rate;          ///< "fastest", "slowest"; empty: the costs are what they are
  std::string pool;          ///< of the machine; empty if the input brings its own
  problem::Problem problem;  ///< whose ops the bounds name
  std::vector<schedule::Bound> bounds;  ///< largest first, never empty
  std::optional<std::string>
      infeasible;  ///< why there is no schedule at any II, if that is obvious
};

/// A schedule or order that came with the loop.
struct ImportedSchedule {
  bool is_order = false;  ///< then `interval` is the least it can reach
  Cycles interval = 1;
  std::vector<std::string> circuit;     ///< of an order: the circuit that keeps it from being
                                        ///< faster
  std::vector<std::string> violations;  ///< by the independent checker
};

/// Contents of `twill bound`: the lower bounds of a loop, with their reasons.
struct Limits {
  std::string input;    ///< as the user named it
  std::string loop;     ///< which loop of it; empty for `.loop` files
  std::string machine;  ///< empty for `.loop` files
  bool machine_measured = true;
  std::optional<Outcome> answer;   ///< the answer for the loop or kernel, to be built
  std::vector<RatedBounds> rates;  ///< one; of a kernel two: fastest rates, then slowest
  std::optional<Cycles> measured;  ///< cycles per iteration, as the user measured them
  std::optional<LaunchTime> launch;
  std::optional<ImportedSchedule> imported;
  std::vector<Diagnostic> warnings;
};

/// Plain ASCII of at most 100 columns: the least II, the figure that it is compared with, and its
/// limiter. All other bounds follow with their slack.
std::string limits_text(const Limits& limits);

inline constexpr int kLimitsJsonVersion = 2;

/// The limits as JSON with every bound, documented in docs/reference/cli.md. Same limits, same
/// bytes.
std::string limits_json(const Limits& limits);

}  // namespace twill::report
