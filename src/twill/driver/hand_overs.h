#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"

/// Internal to the driver: values in registers that one group makes and another reads, which a
/// plan hands over in shared memory.
namespace twill::driver {

/// Whether some value in registers is read in another group than its own.
bool hands_over(const problem::Problem& problem, const schedule::Schedule& schedule);

/// The Problem in which every value in registers is read in the group that makes it, where both ops
/// have one width. Its schedules are schedules of the whole without transfers. Nothing if no value
/// could change groups.
std::optional<problem::Problem> without_hand_overs(const problem::Problem& problem);

/// Bytes in which the values wait that the schedule hands over, in as many copies as wait at once.
Amount handed_over_bytes(const problem::Problem& problem, const schedule::Schedule& schedule);

/// The Problem with that many bytes less in the memory where transferred values wait, and with
/// addresses for all others: what a plan needs, whatever the Problem relaxes. Nothing if no byte is
/// left, or if that changes nothing.
std::optional<problem::Problem> with_room(const problem::Problem& problem, Amount bytes);

/// Why the stores and loads by which the groups of the outcome's schedule hand values over leave no
/// schedule at any interval, at the machine's prices (the Problem of `--hand-offs`, with these
/// groups). Nothing where they leave one, where that is not known within a small part of the work
/// limit, and for what is not a kernel by strategy `twill`.
std::optional<std::string> why_not_handed_over(const Request& request, const Reading& reading,
                                               const report::Outcome& outcome);

}  // namespace twill::driver
