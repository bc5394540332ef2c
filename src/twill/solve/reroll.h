#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::solve {

/// The rerolled form of a loop that was unrolled in the source: one of its iterations equals
/// `turns` iterations of `loop`.
struct Rerolled {
  struct Op {
    problem::OpId of;      ///< of `loop`
    std::size_t turn = 0;  ///< which of the iterations
  };
  problem::Problem loop;
  std::size_t turns = 1;
  std::vector<Op> ops;  ///< by op of the unrolled loop
};

/// Finds the smallest loop of which this one is an unrolled form, by matching each op with its
/// counterpart one turn later. The result is verified: unrolled, it has exactly the dependences of
/// `problem`. Empty if none is found with two turns or more; some are missed. Loops with transfer
/// ops, or with sets of ops that must share a group, are not tried. Cost: as of colour refinement,
/// then O(dependences) for each op that looks like another.
std::optional<Rerolled> reroll(const problem::Problem& problem);

/// A schedule of the rerolled loop, once per turn, as one of the unrolled loop: of `turns` times
/// the II, without offsets. It keeps all rules but, perhaps, `placement`.
schedule::Schedule unrolled(const Rerolled& rerolled, const schedule::Schedule& schedule);

}  // namespace twill::solve
