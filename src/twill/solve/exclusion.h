#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/candidate.h"
#include "twill/solve/instance.h"
#include "twill/solve/symmetry.h"

/// Structures (schedule/difference.h) that a search for another one must not find again.
namespace twill::solve {

struct Exclusion {
  /// Schedules whose structures are excluded.
  std::vector<schedule::Schedule> structures;
  /// Proven of all other schedules: their II and then their objectives, in order, are
  /// lexicographically not less than this; may be shorter than the list of objectives.
  std::vector<std::int64_t> least;
};

/// The structures of `exclusion` with the ways of `candidate`, as schedules of the candidate
/// (way 0), and all that exchanges of sub-tiles, one after the other, make of them. `of_problem`:
/// the sub-tiles of the Problem that the candidate is of. So what is excluded is closed under all
/// that the encoding takes for equal. Cost: n! schedules each for n sub-tiles, at most 8.
std::vector<schedule::Schedule> excluded_in(const Candidate& candidate, const SubTiles& of_problem,
                                            const Exclusion& exclusion);

/// The same schedule with the sub-tiles exchanged.
schedule::Schedule image_of(const schedule::Schedule& schedule, const Exchange& exchange);

/// By op, its group, where of groups that differ in nothing but the name the first is that of the
/// first op in any of them, the second that of the first op that is in another, and so on, all of
/// ops that always exist: the names that the encoding allows (encode.h).
std::vector<std::size_t> ordered_groups(const Instance& instance,
                                        const schedule::Schedule& schedule);

}  // namespace twill::solve
