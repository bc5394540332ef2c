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

/// Bounds of a loop under one set of costs.
struct RatedBounds {
  explicit RatedBounds(problem::Problem what) : problem(std::move(what)) {}

  std::string rate;          ///< "fastest", "slowest"; empty if the input has one set of costs
  std::string pool;          ///< pool of the machine; empty if the input brings its own
  problem::Problem problem;  ///< the bounds name its ops
  std::vector<schedule::Bound> bounds;  ///< largest first, never empty
  std::optional<std::string>
      infeasible;  ///< reason why there is no schedule at any II, if no search is needed to see it
};

/// Schedule or order that came with the loop.
struct ImportedSchedule {
  bool is_order = false;  ///< then `interval` is the least II of the order
  Cycles interval = 1;
  std::vector<std::string> circuit;     ///< for an order: the circuit that keeps it from being
                                        ///< faster
  std::vector<std::string> violations;  ///< found by the independent checker
};

/// Contents of `twill bound`: lower bounds of a loop, with their reasons.
struct Limits {
  std::string input;    ///< as the user named it
  std::string loop;     ///< loop of the input; empty for `.loop` files
  std::string machine;  ///< empty for `.loop` files
  bool machine_measured = true;
  std::optional<Outcome> answer;   ///< answer for the loop or kernel that is to be built
  std::vector<RatedBounds> rates;  ///< one; for a kernel two: fastest rates, then slowest
  std::optional<Cycles> measured;  ///< cycles per iteration that the user measured
  std::optional<LaunchTime> launch;
  std::optional<ImportedSchedule> imported;
  std::vector<Diagnostic> warnings;
};

/// Prints the least II, the compared figure, and its limiter, in plain ASCII of at most 100
/// columns. All other bounds follow with their slack.
std::string limits_text(const Limits& limits);

inline constexpr int kLimitsJsonVersion = 2;

/// Prints the limits as JSON with every bound (docs/reference/cli.md). Equal limits give equal
/// bytes.
std::string limits_json(const Limits& limits);

}  // namespace twill::report
