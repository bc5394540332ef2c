#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/problem/problem.h"
#include "twill/schedule/schedule.h"

namespace twill::solve {

/// A loop that was unrolled in the source, rolled up again: one of its iterations does what `turns`
/// iterations of `loop` do.
struct Rolled {
  struct Op {
    problem::OpId of;      ///< of `loop`
    std::size_t turn = 0;  ///< which of the iterations
  };
  problem::Problem loop;
  std::size_t turns = 1;
  std::vector<Op> ops;  ///< by op of the unrolled loop
};

/// Finds the smallest loop that this one is an unrolled form of, by following how one op stands for
/// another a turn later. What is returned is verified: unrolled, it has exactly the dependences of
/// `problem`. Nothing if there is none with two turns or more; something may be missed. Loops with
/// hand-offs or sets of ops that must share a group are not tried.
/// Cost: as of colour refinement, then O(dependences) for each op that looks like another.
std::optional<Rolled> roll(const problem::Problem& problem);

/// A schedule of the rolled loop, once per turn, as one of the unrolled loop: of `turns` times the
/// II, without offsets. It keeps all rules but, perhaps, `placement`.
schedule::Schedule unrolled(const Rolled& rolled, const schedule::Schedule& schedule);

}  // namespace twill::solve
