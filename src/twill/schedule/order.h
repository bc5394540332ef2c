#pragma once

#include <vector>

#include "twill/schedule/schedule.h"

/// Schedule without its cycles: the group and stage of each op, and the sequences in which groups
/// issue and units work. Papers publish orders, and barriers enforce them. Speed of an order:
/// least_interval.h.
namespace twill::schedule {

/// Place of an op in an order.
struct Step {
  int stage = 0;  ///< round j of the steady state runs the op for iteration j - stage
  GroupId group;
  int alternative = 0;  ///< index into Op::alternatives
  friend bool operator==(const Step&, const Step&) = default;
};

/// One round of the steady state. The rounds of two sequences need not begin at the same cycle;
/// only the dependences tie sequences together.
struct Order {
  std::vector<Step> ops;                  ///< by OpId
  std::vector<std::vector<OpId>> groups;  ///< by GroupId: its ops in issue order
  std::vector<std::vector<OpId>> units;   ///< by UnitId: its ops in the order they hold the unit;
                                          ///< empty if not given, which is allowed if one group
                                          ///< runs them all
  friend bool operator==(const Order&, const Order&) = default;
};

/// Largest stage that an order may name.
inline constexpr int kLargestStage = 1000;

/// Order of a schedule: stages, and sequences by slot, ops of equal slot by id. All sequences are
/// given, also for units within one group. Stages beyond kLargestStage become kLargestStage + 1,
/// which `completed` refuses. Precondition: the schedule is well-formed (`verify`).
Order order_of(const problem::Problem& problem, const Schedule& schedule);

/// Completes the order with every unit's sequence. Fails if the order does not fit the Problem:
/// wrong sizes; unknown alternatives, stages or groups; an op that is missing from the sequence of
/// its group or unit, or in it twice; a unit shared by several groups without a sequence. Cost:
/// O(ops).
Result<Order> completed(const problem::Problem& problem, Order order);

}  // namespace twill::schedule
