#pragma once

#include <optional>
#include <vector>

#include "twill/explain/ask.h"
#include "twill/explain/requirement.h"
#include "twill/schedule/schedule.h"

namespace twill::explain {

/// Requirements that together leave no schedule.
struct Core {
  std::vector<Requirement> requirements;  ///< sorted
  bool minimal = true;  ///< each requirement was proven needed: without it there is a schedule.
                        ///< False: a limit ended some of these proofs
};

/// Requirements of a sum or circuit that exceeds `ii`, if there is one: they alone leave no
/// schedule of that II, without a search.
std::vector<Requirement> requirements_of_bound(const problem::Problem& problem,
                                               const schedule::Bound& bound);

/// Reduces `requirements` to a core: they leave no schedule with an II of at most `ii`, and none of
/// them can be dropped. Without `ii`: at any II. Deterministic: among several cores, few ops and
/// early ops are preferred. Precondition: `requirements` leave no schedule. Cost: some decisions
/// per requirement kept, and a few per kind and op.
Core minimal_core(const problem::Problem& problem, std::vector<Requirement> requirements,
                  std::optional<Cycles> ii, Asker& asker);

}  // namespace twill::explain
