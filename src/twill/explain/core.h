#pragma once

#include <optional>
#include <vector>

#include "twill/explain/ask.h"
#include "twill/explain/member.h"
#include "twill/schedule/schedule.h"

namespace twill::explain {

/// Members that together leave no schedule.
struct Core {
  std::vector<Member> members;  ///< sorted
  bool minimal = true;  ///< without any one of them there is a schedule: each was proven so.
                        ///< False: a limit ended some of these proofs
};

/// Members of a sum or circuit that is larger than `ii`, if there is one: no search is needed to
/// see that they leave no schedule of that II.
std::vector<Member> members_of_bound(const problem::Problem& problem, const schedule::Bound& bound);

/// A part of `members` that leaves no schedule with an II of at most `ii` (none given: at any II)
/// either, with nothing in it that could be dropped. Which of several is found is deterministic:
/// it prefers few ops, and those that come first. Precondition: `members` leave none.
/// Cost: some decisions per member kept, and a few per kind and op.
Core minimal_core(const problem::Problem& problem, std::vector<Member> members,
                  std::optional<Cycles> ii, Asker& asker);

}  // namespace twill::explain
