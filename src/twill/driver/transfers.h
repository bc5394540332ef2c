#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"

/// Internal to the driver: values in registers that one group makes and another group reads, which
/// a plan transfers through shared memory.
namespace twill::driver {

/// Whether some value in registers is read in another group than its own.
bool transfers_values(const problem::Problem& problem, const schedule::Schedule& schedule);

/// The Problem in which every value in registers is read in its own group, if both ops have one
/// width. Its schedules are the schedules of the whole Problem without transfers. Empty if no value
/// could change groups.
std::optional<problem::Problem> without_transfers(const problem::Problem& problem);

/// Bytes for the transferred values of the schedule, counting all copies that wait at once.
Amount transferred_bytes(const problem::Problem& problem, const schedule::Schedule& schedule);

/// Whether these bytes leave that share of the memory in which they wait.
bool leave_share(const problem::Problem& problem, const schedule::Schedule& schedule, double share);

/// The Problem with `bytes` less in the memory where transferred values wait, and with addresses
/// for all other values. A plan needs such addresses, whatever the Problem relaxes. Empty if no
/// byte is left, or if the Problem does not change.
std::optional<problem::Problem> with_room(const problem::Problem& problem, Amount bytes);

/// Note on a pool that is left out because it is cramped.
inline constexpr const char* kCramped =
    "no schedule leaves memory for the values that its groups transfer";

/// Whether no schedule, at any interval, leaves memory for one copy of each value that changes
/// groups. Then no schedule of the pool has a plan. False if a small part of the work limit does
/// not decide it. The work is added to `spent`.
bool is_cramped(const problem::Problem& problem, const solve::Options& limits,
                std::uint64_t& spent);

/// Whether a Problem is another with some times longer and none shorter. Its schedules obey the
/// rules of the other Problem, too, with as many copies of each value at most.
bool is_slowed_down(const problem::Problem& slow, const problem::Problem& fast);

/// Lower bound on the II of the schedules of a `.loop` that have room in memory for one copy of
/// each value that changes groups. nullopt if the bound of all schedules is as high. Used where a
/// schedule was refused a plan, and the outcome's II is above the bound. The bound is never above
/// `simulated`, the cycles that a run of the plan takes for each iteration.
std::optional<schedule::Bound> bound_with_room(const Request& request,
                                               const report::Outcome& outcome,
                                               std::optional<double> simulated);

/// Reason why no schedule is left at any interval, with transfer ops between the groups of the
/// outcome's schedule at the machine's prices. The ops are those of the Problem of
/// `--transfer-ops`, with these groups. nullopt if a schedule is left, or if a small part of the
/// work limit does not decide it. Also nullopt for inputs that are no kernel, and for strategies
/// other than `twill`.
std::optional<std::string> why_no_transfer(const Request& request, const Reading& reading,
                                           const report::Outcome& outcome);

}  // namespace twill::driver
