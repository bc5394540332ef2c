#pragma once

#include <cstddef>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

/// Tie-breaking: a choice among schedules that all objectives call equal.
///
/// The schedule's decisions stay: groups, alternatives, and every inequality of its structure
/// (structure.h), hence all rules, II and length. Transfers and memory traffic follow from these.
/// Only cycles within the inequalities are free. They are chosen in three steps:
///
/// 1. Waits get the most slack: the slacks of all waiting dependences are raised together until a
/// circuit holds some of them. These stay, and the others are raised further (the lexicographic
/// max-min, exact up to less than a cycle per dependence). 2. The sum of all lifetimes of values is
/// made least, exactly. The dual is an assignment of maximum weight, of the ends of lifetimes to
/// their beginnings. 3. Every op is issued as early as possible, which leaves one solution.
///
/// Other structures are not searched: another order of ops could have more slack.
namespace twill::solve {

/// Dependence with a wait; its slack is M(to) - M(from) - least.
struct Wait {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles least = 0;  ///< delay, with the transfer if there is one, less distance * II
};

/// Dependences with a wait: on a variable-latency op, marked blocking, or with a register value
/// that crosses groups. Dependences of an op on itself are left out. Empty if the rule `dependence`
/// is relaxed.
std::vector<Wait> waits_of(const Instance& instance, const schedule::Schedule& schedule);

/// Sum of lifetimes: cycles from the issue of each value that takes registers or memory to the end
/// of its last read.
Cycles total_lifetime(const Instance& instance, const schedule::Schedule& schedule);

/// Most ops of a loop that `settle_ties` changes; for larger loops it returns its argument.
inline constexpr std::size_t kMostOpsToSettle = 600;

/// Finds the best schedule of the same structure, in this sense. Precondition: `schedule` obeys the
/// rules, and no schedule of its structure is shorter (structure.h: `tightened`). Cost: cubic in
/// the number of ops; below a millisecond for 32.
schedule::Schedule settle_ties(const Instance& instance, const schedule::Schedule& schedule);

}  // namespace twill::solve
