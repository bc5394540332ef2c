#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

/// The schedules next to the optimum. Equal cost in the model is not equal measured speed, so it
/// can be worth measuring several.
namespace twill::solve {

struct Alternative {
  schedule::Schedule schedule;
  std::vector<schedule::ObjectiveValue> objectives;  ///< II first, as of an Answer
  /// Proven: no better schedule has another structure than `first` and the alternatives before
  /// it.
  bool proven = false;
};

struct Alternatives {
  std::vector<Alternative> list;
  bool complete = false;  ///< proven: within the distance there is no structure but these
  bool stopped = false;   ///< a limit ended the search before it found as many as were wanted
  std::uint64_t work = 0;
};

/// Up to `count` schedules of `problem` with an II of at most `options.most_interval` (default:
/// that of `first`), of which no two have the same structure, and none that of `first`
/// (schedule/difference.h); the exchange of interchangeable sub-tiles (symmetry.h) makes no new
/// structure. Each is the optimum, in all levels, of what is left without those before it; groups
/// and sub-tiles are named so that it differs least from `first`. Ties are settled as by `solve`.
///
/// The work limit is that of one alternative, so asking for more of them changes none. What is
/// found within it and not proven to be the best left may be followed by a better one.
///
/// Precondition: `first` has a schedule and is `solve`'s answer for `problem`. Deterministic.
Alternatives alternatives(const problem::Problem& problem, const schedule::Answer& first,
                          std::size_t count, const Options& options);

}  // namespace twill::solve
