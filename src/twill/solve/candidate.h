#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"
#include "twill/solve/symmetry.h"

namespace twill::solve {

/// A Problem with one alternative chosen for every op.
struct Candidate {
  std::vector<int> alternatives;  ///< by op, of the original Problem
  problem::Problem problem;       ///< with these alternatives only
  schedule::Bound min_ii;         ///< of `problem`
};

/// The combinations of alternatives to try.
struct Candidates {
  std::deque<Candidate> tried;  ///< by ascending MinII, then in order of the alternatives
  bool all = true;              ///< false if there are more combinations than the limit
};

/// All combinations of alternatives, at most `limit` of them: the first in lexicographic order. The
/// alternatives that a Problem lists first are its default. An exchange of sub-tiles may turn
/// combinations into each other: only the first is kept. Cost: one MinII per combination.
Candidates candidates_of(const problem::Problem& problem, const SubTiles& sub_tiles,
                         std::size_t limit);

/// A schedule of a candidate as a schedule of the original Problem.
schedule::Schedule with_alternatives(schedule::Schedule schedule, const Candidate& candidate);

}  // namespace twill::solve
