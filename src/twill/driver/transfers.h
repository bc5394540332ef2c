#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"

/// Internal to the driver: values in registers that one group makes and another reads, which a
/// plan transfers through shared memory.
namespace twill::driver {

/// Whether some value in registers is read in another group than its own.
bool transfers_values(const problem::Problem& problem, const schedule::Schedule& schedule);

/// The Problem in which every value in registers is read in the group that makes it, where both ops
/// have one width. Its schedules are schedules of the whole without transfers. Empty if no value
/// could change groups.
std::optional<problem::Problem> without_transfers(const problem::Problem& problem);

/// Bytes for the transferred values of the schedule, in as many copies as wait at once.
Amount transferred_bytes(const problem::Problem& problem, const schedule::Schedule& schedule);

/// Whether these bytes leave that share of the memory where they wait.
bool leave_share(const problem::Problem& problem, const schedule::Schedule& schedule, double share);

/// The Problem with that many bytes less in the memory where transferred values wait, and with
/// addresses for all others. A plan needs that, whatever the Problem relaxes. Empty if no byte is
/// left, or if that changes nothing.
std::optional<problem::Problem> with_room(const problem::Problem& problem, Amount bytes);

/// Note on a pool that is left out since it is cramped.
inline constexpr const char* kCramped = "no schedule leaves memory for what its groups hand over";

/// Whether no schedule, at any interval, leaves memory for one copy of each value that changes
/// groups. Then none of the pool has a plan. False where a small part of the work limit does not
/// tell. The work is added to `spent`.
bool is_cramped(const problem::Problem& problem, const solve::Options& limits,
                std::uint64_t& spent);

/// Lower bound on the II of schedules with room, if it is above that of all. They leave memory for
/// one copy of each value that changes groups. Only of a `.loop`. Asked where a schedule was
/// refused a plan and the outcome's is above the bound. No more is claimed than a run of the plan
/// takes: `simulated`.
std::optional<schedule::Bound> bound_with_room(const Request& request,
                                               const report::Outcome& outcome,
                                               std::optional<double> simulated);

/// Why the transfer ops between the groups of the outcome's schedule leave no schedule at any
/// interval, at the machine's prices. They are those of the Problem of `--transfer-ops`, with these
/// groups. nullopt where they leave one, where a small part of the work limit does not tell, and
/// for all but kernels by strategy `twill`.
std::optional<std::string> why_no_transfer(const Request& request, const Reading& reading,
                                           const report::Outcome& outcome);

}  // namespace twill::driver
