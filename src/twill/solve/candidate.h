#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"
#include "twill/solve/symmetry.h"

namespace twill::solve {

/// Problem with one alternative chosen for every op.
struct Candidate {
  std::vector<int> alternatives;  ///< by op of the original Problem
  problem::Problem problem;       ///< with these alternatives only
  schedule::Bound min_ii;         ///< MinII of `problem`
  Cycles least_length = 0;        ///< lower bound on its length, from the chains of an iteration
};

/// Combinations of alternatives to try.
struct Candidates {
  /// By ascending MinII, then least length, then in order of the alternatives. But of those with
  /// the smallest MinII the first in that order comes first.
  std::deque<Candidate> tried;
  bool all = true;  ///< false if there are more combinations than the limit
};

/// Lists combinations of alternatives, at most `limit`: the first in lexicographic order, which
/// contain each op's default, its first alternative. An exchange of sub-tiles may turn combinations
/// into each other: only the first is kept. Cost: one MinII per combination.
Candidates candidates_of(const problem::Problem& problem, const SubTiles& sub_tiles,
                         std::size_t limit);

/// Turns a schedule of a candidate into a schedule of the original Problem.
schedule::Schedule with_alternatives(schedule::Schedule schedule, const Candidate& candidate);

}  // namespace twill::solve
