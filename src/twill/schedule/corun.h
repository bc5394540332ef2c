#pragma once

#include "twill/schedule/order.h"
#include "twill/support/diagnostic.h"

/// Speed of an order whose groups share pipes.
///
/// A Problem's costs hold for an op that has its pipes to itself. Beside other groups and a
/// streaming tensor core an op is slower, by an amount that changes from moment to moment. No fixed
/// cost can express that, so the order is simulated. Groups issue in their order and wait for their
/// operands; units serve their ops in the order's sequence. At any moment, each running op advances
/// at the rate that its pipes leave to it (problem/pipe_sharing.h; tested against hardware in
/// docs/decisions/0004-shared-pipes.md).
namespace twill::schedule {

struct CoRun {
  double interval = 0;            ///< expected cycles per iteration in the steady state
  std::vector<double> unit_busy;  ///< busy share of the interval, by UnitId
};

/// Factor within which expected intervals count as equal. When the factor was set, the root mean
/// square error on loops timed on an H200 was as large. That error is 3.5 % now; the factor was
/// kept (decision 0004).
inline constexpr double kCoRunError = 1.036;

/// Service order of a unit that several groups use.
enum class Turns {
  enforced,    ///< the order's sequence, held by tokens or barriers between the groups
  first_come,  ///< first come, first served; the order's sequence is ignored
};

/// Runs `order` for a fixed number of rounds. The Problem should have every op at its fastest,
/// since slowdown is computed here. Synchronous ops hold their group until they are issued and
/// their pipes have done the work; asynchronous ops hold their group for their issue cycles.
/// Registers and memory are ignored. Groups run at most four rounds ahead of each other and of
/// their units. Stages beyond 60 are not measured. Fails if the order does not fit the Problem or
/// deadlocks. Deterministic. Cost: about 100 runs through the ops.
Result<CoRun> co_run(const problem::Problem& problem, const Order& order, Turns turns);

}  // namespace twill::schedule
