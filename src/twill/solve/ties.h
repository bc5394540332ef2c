#pragma once

#include <cstddef>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

/// Tie-breaking: chooses among schedules that all objectives call equal.
///
/// The schedule's decisions stay: groups, alternatives, and every inequality of its structure
/// (structure.h), hence all rules, II and length. Transfers and memory traffic follow from these.
/// Only cycles within the inequalities are free, and are chosen so that
///
/// 1. waits get the most slack: the slacks of all waiting dependences are raised together until a
///    circuit holds some of them. These stay, and the others are raised further (the lexicographic
///    max-min, exact up to less than a cycle per dependence);
/// 2. then the sum of all lifetimes of values is least, exactly. The dual is an assignment of
///    maximum weight, of the ends of lifetimes to their beginnings;
/// 3. then every op is issued as early as possible, which leaves one solution.
///
/// Other structures are not searched: another order of ops could have more slack.
namespace twill::solve {

/// A dependence with a wait; its slack is M(to) - M(from) - least.
struct Wait {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles least = 0;  ///< delay, with the transfer if it is paid, less distance * II
};

/// The dependences on a variable-latency op, those marked blocking, and those whose register value
/// crosses groups, but for an op's on itself. None if the rule `dependence` is relaxed.
std::vector<Wait> waits_of(const Instance& instance, const schedule::Schedule& schedule);

/// Cycles from the issue of each value that takes registers or memory to the end of its last read,
/// summed over all of them.
Cycles total_lifetime(const Instance& instance, const schedule::Schedule& schedule);

/// Beyond this many ops, `settle_ties` returns its argument.
inline constexpr std::size_t kMostOpsToSettle = 600;

/// The best schedule of the same structure, in the sense above. Precondition: `schedule` obeys the
/// rules, and no schedule of its structure is shorter (structure.h: `tightened`). Cost: cubic in
/// the number of ops; below a millisecond for 32.
schedule::Schedule settle_ties(const Instance& instance, const schedule::Schedule& schedule);

}  // namespace twill::solve
