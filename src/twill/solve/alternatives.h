#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

/// Schedules next to the optimum. Equal cost in the model is not equal measured speed, so it can be
/// worth measuring several.
namespace twill::solve {

struct AlternativeSchedule {
  schedule::Schedule schedule;
  std::vector<schedule::ObjectiveValue> objectives;  ///< II first, as in an Answer
  /// Proven: no better schedule has another structure than `first` and the earlier alternatives.
  bool proven = false;
};

struct AlternativeSchedules {
  std::vector<AlternativeSchedule> list;
  bool complete = false;  ///< proven: within the distance there is no other structure
  bool stopped = false;   ///< a limit ended the search before `count` were found
  std::uint64_t work = 0;
};

/// Finds up to `count` schedules of `problem` with an II of at most `options.most_interval`
/// (default: the II of `first`). No two have one structure (schedule/difference.h), and none has
/// that of `first`. Exchanges of interchangeable sub-tiles (symmetry.h) make no new structure. Each
/// schedule is the optimum, in all levels, of the schedules without the structures before it.
/// Groups and sub-tiles get the names by which it differs least from `first`. Ties are settled as
/// by `solve`.
///
/// The work limit is for one alternative, so a larger `count` changes no alternative. An
/// alternative that is not proven best may be followed by a better one.
///
/// Precondition: `first` has a schedule and is `solve`'s answer for `problem`. Deterministic.
AlternativeSchedules alternatives(const problem::Problem& problem, const schedule::Answer& first,
                                  std::size_t count, const Options& options);

}  // namespace twill::solve
