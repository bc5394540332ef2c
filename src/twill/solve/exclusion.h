#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/candidate.h"
#include "twill/solve/instance.h"
#include "twill/solve/symmetry.h"

/// Structures (schedule/difference.h) that a search for another structure must avoid.
namespace twill::solve {

struct Exclusion {
  /// Schedules whose structures are excluded.
  std::vector<schedule::Schedule> structures;
  /// Lower bound, proven for all other schedules: their II and objectives, in order, are
  /// lexicographically not less than this. May be shorter than the list of objectives.
  std::vector<std::int64_t> least;
};

/// Structures of `exclusion` with the alternatives of `candidate`, as schedules of the candidate
/// (alternative 0). Also their images under sequences of exchanges of sub-tiles, so that the
/// exclusion is closed under the symmetry of the encoding. `of_problem`: the sub-tiles of the
/// candidate's Problem. Cost: n! schedules each for n sub-tiles, at most 8.
std::vector<schedule::Schedule> excluded_in(const Candidate& candidate, const SubTiles& of_problem,
                                            const Exclusion& exclusion);

/// Exchanges the sub-tiles of the schedule.
schedule::Schedule image_of(const schedule::Schedule& schedule, const Exchange& exchange);

/// Group of each op under the names that the encoding allows (encode.h), by op. Groups that differ
/// in their names only are ordered by their first op, among ops that always exist.
std::vector<std::size_t> ordered_groups(const Instance& instance,
                                        const schedule::Schedule& schedule);

}  // namespace twill::solve
