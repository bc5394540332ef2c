#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/concurrent/finding.h"

/// Verification of modules whose warps have roles, for all arguments at once. Covers every number
/// of iterations of every loop, and every outcome of conditions. Why that is a proof:
/// docs/decisions/0012-verify-ttgir.md.
namespace twill::concurrent {

/// Iterations of loops in a run that breaks a rule: one number for each time that a loop began.
struct LoopTrips {
  ir::OpId loop;                    ///< the first of the loops that are alike that was asked about
  std::vector<std::int64_t> trips;  ///< the last number is a lower bound
  bool goes_on = false;  ///< the last execution had not ended: more iterations do the same
};

/// An assumed outcome of a condition that counts no iterations.
struct Assumption {
  ir::OpId op;
  bool more = false;
};

struct EveryTrip {
  std::size_t states = 0;         ///< number of distinct states
  std::vector<Finding> findings;  ///< from the shortest run that breaks a rule; empty: none
  std::vector<LoopTrips> trips;   ///< iterations in that run
  std::vector<Assumption> assumptions;
};

/// Follows all runs of a function in which every loop that roles notice makes `at_least`
/// iterations. Fails, at the op's line, for what is not followed. Cost: the number of states, some
/// 0.3 ms each; at most kMostStates. Without `turns`, states that differ by the slots of rings are
/// told apart.
Result<EveryTrip> follow_every_trip(const ir::Program& program, ir::OpId function,
                                    std::int64_t at_least = 0, bool turns = true);
inline constexpr std::size_t kMostStates = 2'000;

}  // namespace twill::concurrent
