#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/concurrent/finding.h"

/// Modules whose warps have roles, for all arguments at once: every number of iterations of every
/// loop, and every way that conditions may turn out. Why that is a proof:
/// docs/decisions/0012-verify-ttgir.md.
namespace twill::concurrent {

/// A run that breaks a rule: iterations of loops, each as often as it was begun.
struct LoopTrips {
  ir::OpId loop;                    ///< the first that was asked about
  std::vector<std::int64_t> trips;  ///< of the last one: at least
  bool goes_on = false;             ///< the last one had not ended: more iterations do the same
};

/// A condition that is no number of iterations, and was assumed.
struct Assumption {
  ir::OpId op;
  bool more = false;
};

struct EveryTrip {
  std::size_t states = 0;         ///< that were told apart
  std::vector<Finding> findings;  ///< of the shortest run that breaks a rule; empty: none does
  std::vector<LoopTrips> trips;   ///< of that run
  std::vector<Assumption> assumptions;
};

/// Follows all runs of a function in which every loop that roles notice makes `at_least`
/// iterations. Fails, at the op's line, for what is not followed. Cost: the number of states, some
/// 0.1 ms each; at most kMostStates.
Result<EveryTrip> follow_every_trip(const ir::Program& program, ir::OpId function,
                                    std::int64_t at_least = 0);
inline constexpr std::size_t kMostStates = 6'000;

}  // namespace twill::concurrent
