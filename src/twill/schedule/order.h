#pragma once

#include <vector>

#include "twill/schedule/schedule.h"

/// A schedule without its cycles: which group runs which op, in which stage, and in which order
/// groups issue and units work. This is what papers publish and what barriers enforce. How fast an
/// order can run: least_interval.h.
namespace twill::schedule {

/// Where an op stands in an order.
struct Step {
  int stage = 0;  ///< round j of the steady state runs the op for iteration j - stage
  GroupId group;
  int alternative = 0;  ///< index into Op::alternatives
  friend bool operator==(const Step&, const Step&) = default;
};

/// One round of the steady state. The rounds of two sequences need not begin at the same cycle;
/// only the dependences tie them together.
struct Order {
  std::vector<Step> ops;                  ///< by OpId
  std::vector<std::vector<OpId>> groups;  ///< by GroupId: its ops in the order they are issued
  std::vector<std::vector<OpId>> units;   ///< by UnitId: its ops in the order they hold it; empty:
                                          ///< not given, allowed if all of them share a group
  friend bool operator==(const Order&, const Order&) = default;
};

/// The largest stage an order may name.
inline constexpr int kLargestStage = 1000;

/// The order a schedule follows: stages, and sequences by slot, ops of equal slot by id. All
/// sequences are given, also of units within one group. A later stage than an order may name
/// becomes kLargestStage + 1, which `completed` refuses. Precondition: the schedule is well-formed
/// (`verify`).
Order order_of(const problem::Problem& problem, const Schedule& schedule);

/// The order with every unit's sequence given. Fails if the order does not fit the Problem: wrong
/// sizes; unknown alternatives, stages or groups; an op that is missing from the sequence of its
/// group or unit, or in it twice; a unit shared by several groups without a sequence. Cost: O(ops).
Result<Order> completed(const problem::Problem& problem, Order order);

}  // namespace twill::schedule
