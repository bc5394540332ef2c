#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::solve {

/// Rerolled form of a loop that was unrolled in the source: an iteration equals `turns` iterations
/// of `loop`.
struct Rerolled {
  struct Op {
    problem::OpId of;      ///< op of `loop`
    std::size_t turn = 0;  ///< number of the iteration among the turns
  };
  problem::Problem loop;
  std::size_t turns = 1;
  std::vector<Op> ops;  ///< by op of the unrolled loop
};

/// Finds the smallest loop of which this one is an unrolled form, by matching each op with its
/// counterpart one turn later. The result is verified: unrolled, it has exactly the dependences of
/// `problem`. Empty if none with two turns or more is found; some are missed. Loops with transfer
/// ops, or with sets of ops that must share a group, are not tried. Cost: as for colour refinement,
/// then O(dependences) for each op that looks like another.
std::optional<Rerolled> reroll(const problem::Problem& problem);

/// Repeats a schedule of the rerolled loop once per turn, as a schedule of the unrolled loop: with
/// `turns` times the II, without offsets. It keeps all rules except, perhaps, `placement`.
schedule::Schedule unrolled(const Rerolled& rerolled, const schedule::Schedule& schedule);

}  // namespace twill::solve
