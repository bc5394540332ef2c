#pragma once

#include "twill/schedule/order.h"
#include "twill/support/diagnostic.h"

/// Speed of an order whose groups share pipes.
///
/// A Problem's costs hold for an op that has its pipes to itself. Beside other groups and a
/// streaming tensor core an op is slower. By how much depends on what runs at that moment, so no
/// fixed cost can say it. Therefore the order is run. Groups issue in their order and wait for
/// their operands; units serve their ops in the order's sequence. At any moment everything that
/// runs moves at the rate its pipes leave it (problem/pipe_sharing.h; tested against hardware in
/// docs/decisions/0004-shared-pipes.md).
namespace twill::schedule {

struct CoRun {
  double interval = 0;            ///< expected cycles per iteration in the steady state
  std::vector<double> unit_busy;  ///< by UnitId: its occupancies per interval
};

/// Expected intervals within this factor count as equal. It was the root mean square error on the
/// loops timed on an H200 when it was set. That error is 3.5 % now; the factor was kept (decision
/// 0004).
inline constexpr double kCoRunError = 1.036;

/// Service order of a unit that several groups use.
enum class Turns {
  enforced,    ///< the order's sequence, held by tokens or barriers between the groups
  first_come,  ///< first come, first served; the sequence is ignored
};

/// Runs `order` for a fixed number of rounds. Meant for a Problem with every op at its fastest: the
/// slowdown is computed here. Synchronous ops hold their group until they are issued and their
/// pipes have done the work; asynchronous ones for their issue cycles. Registers and memory are
/// ignored; groups run at most four rounds ahead of each other and of their units. Stages beyond 60
/// are not measured. Fails if the order does not fit the Problem or deadlocks. Deterministic. Cost:
/// about 100 runs through the ops.
Result<CoRun> co_run(const problem::Problem& problem, const Order& order, Turns turns);

}  // namespace twill::schedule
