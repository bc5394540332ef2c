#pragma once

#include <optional>
#include <vector>

#include "twill/schedule/schedule.h"

/// Quantities that follow from a schedule, for reports and plans: buffers, registers, loads, rings,
/// total time. Precondition of every function: the schedule is well-formed for the Problem
/// (`verify` finds no violation of "well-formed"). No function here checks whether the schedule is
/// right.
namespace twill::schedule {

using problem::PipeId;
using problem::UnitId;

/// Life of an op's result in iteration 0: [begin, end), from its issue to the end of its last read.
/// Without a reader, end == begin. Here, with an II of 10 columns, three copies are alive at once:
///
///     iteration 0  [begin----------------end)
///     iteration 1            [------------------------)
///     iteration 2                      [------------------------)
struct Life {
  Cycles begin = 0;
  Cycles end = 0;
  Cycles copies = 0;  ///< most copies of successive iterations alive at once: ceil(length / II)
  friend bool operator==(const Life&, const Life&) = default;
};
/// Lives of all results, by OpId.
std::vector<Life> lives_of(const problem::Problem& problem, const Schedule& schedule);

/// Buffer of a value in a memory, with the copies that the value needs.
struct Buffer {
  OpId value;
  MemoryId memory;
  Amount amount = 0;  ///< size of one copy
  Cycles depth = 0;   ///< copies
  friend bool operator==(const Buffer&, const Buffer&) = default;
};
/// Buffers by op, then memory; without values that occupy nothing.
std::vector<Buffer> buffers_of(const problem::Problem& problem, const Schedule& schedule);

/// Peak of live registers per thread, by GroupId.
std::vector<Amount> peak_registers(const problem::Problem& problem, const Schedule& schedule);
/// Registers per thread that each group of the budget takes, in the order of its groups: whole
/// steps that cover peak and reserve.
std::vector<Amount> registers_taken(const problem::Problem& problem, const Schedule& schedule,
                                    const problem::RegisterBudget& budget);
/// Peak of the live values in each memory, by MemoryId.
std::vector<Amount> peak_memory(const problem::Problem& problem, const Schedule& schedule);
/// Values of the memory that have a reader, grouped by buffer (rule `placement`): in-place
/// dependences tie values to one buffer. Buffers come by their first value.
std::vector<std::vector<OpId>> tied_values(const problem::Problem& problem, MemoryId memory);
/// End of the highest buffer in each memory, by MemoryId; without offsets, the peak.
std::vector<Amount> memory_reach(const problem::Problem& problem, const Schedule& schedule);

/// Cycles per iteration that the chosen alternatives need, by UnitId and by PipeId.
std::vector<Cycles> unit_loads(const problem::Problem& problem, const Schedule& schedule);
std::vector<Cycles> pipe_loads(const problem::Problem& problem, const Schedule& schedule);

/// Groups of the pool that run at least one op.
std::vector<GroupId> used_groups(const problem::Problem& problem, const Schedule& schedule);

/// Ring buffer of a streaming op. The steady state relies on its depth alone: a load may run ahead
/// of its place in the schedule once a copy is free.
struct Ring {
  OpId op;
  Cycles depth = 1;  ///< copies; at least as many as the schedule keeps alive
  Cycles hides = 0;  ///< cycles from the earliest issue at that depth to the first read
  Cycles wants = 0;  ///< nominal latency of the op, the goal of `hides`
  friend bool operator==(const Ring&, const Ring&) = default;
};
inline constexpr Cycles kDeepestRing = 256;
/// One ring per streaming op that has a reader, by OpId. Rings begin with the copies that the
/// schedule keeps alive. Then one copy at a time goes to the ring that hides the smallest share of
/// its latency. This ends when every ring hides its latency or is kDeepestRing deep, or no copy
/// fits. A copy fits if all rings in full, beside the peak of the other values, stay within each
/// capacity. With a `depth`, rings grow to that depth as far as copies fit, whatever they hide.
std::vector<Ring> rings_of(const problem::Problem& problem, const Schedule& schedule,
                           std::optional<Cycles> depth = {});

}  // namespace twill::schedule
