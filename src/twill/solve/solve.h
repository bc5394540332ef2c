#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

/// The joint modulo schedule and warp-group assignment of a Problem, with proof of optimality.
///
/// The search walks down a lexicographic order: first the smallest initiation interval, then the
/// objectives in the order the Problem lists them. Every level is closed by a refutation ("there is
/// no better one") of a small conflict-driven engine (engine.h). Its encoding has residues and
/// unbounded stages (encode.h); docs/decisions/0003-engine.md says why.
namespace twill::solve {

class ProofSink;

/// Where the search stands; passed to `Options::progress` now and then.
struct Progress {
  std::string_view level;             ///< "initiation_interval", "groups", "crossings", "length"
  std::optional<std::int64_t> value;  ///< the best found so far in this level, if any
  std::int64_t bound = 0;             ///< the proven lower bound of this level
  std::uint64_t work = 0;             ///< work units spent so far
};

/// Limits and callbacks of one call. But for
/// `most_interval`, `least_interval` and `room_for_staging`, nothing here changes the optimum, only
/// whether it is reached.
struct Options {
  /// Work units after which the search stops; a unit is about one touched clause, constraint or
  /// difference edge, some tens of nanoseconds. The default is in the order of 10 seconds.
  std::uint64_t work_limit = 500'000'000;

  /// Work units after which the search hurries: it leaves a level once some more work has brought
  /// neither a better value nor a better bound. The default is some seconds.
  std::uint64_t hurry_after = 300'000'000;

  /// Bytes the engine may hold for clauses, atoms and constraints.
  std::size_t memory_limit = std::size_t{400} << 20;

  /// Combinations of alternatives tried: the first in lexicographic order. Beyond it the verdict is
  /// at best `feasible`, without a claim about the others.
  std::size_t most_combinations = 256;

  /// Schedules with a larger II are of no interest. If there is no other, the verdict is
  /// `undecided` and the lower bound exceeds this.
  std::optional<Cycles> most_interval;

  /// No schedule has a smaller II: the caller has that proven. With it there is no `proof`.
  Cycles least_interval = 1;

  /// Only schedules are of interest that leave memory for one copy of each value in registers that
  /// changes groups (problem/staging.h). What is proven then is proven among these. No effect in a
  /// Problem with transfers. With it `solve` writes no `proof`; `confirm` does.
  bool room_for_staging = false;

  /// A schedule that obeys the rules, to start from. It is used where the search for its
  /// combination of alternatives finds no schedule as fast quickly. With a `most_interval` that it
  /// keeps, no other is searched for.
  std::optional<schedule::Schedule> start;

  /// Called between searches and every few thousand conflicts, on the calling thread.
  std::function<void(const Progress&)> progress;

  /// Asked as often as `progress` is called; true ends the search like an exhausted limit.
  std::function<bool()> cancelled;

  /// The work that is spent is added to it, whatever the outcome; of calls on one thread at a time.
  std::uint64_t* tally = nullptr;

  /// Receives every refutation as a proof that an independent program can check (proof.h).
  ProofSink* proof = nullptr;
};

/// Solves `problem`. Never fails: what could not be decided is said in the verdict.
///
/// - `optimal`: the schedule is best in every level, and every level is proven.
/// - `feasible`: a schedule, and for each level a proven lower bound; a limit ended the search, or
///   hurry that of a level.
/// - `infeasible`: no schedule at any initiation interval; `argument` says why.
/// - `undecided`: no schedule found and no proof; `lower_bound` holds nevertheless.
///
/// The schedule obeys the rules in force (checked here on the folded steady state; `verify` checks
/// it once more by simulation) and its earliest issue is cycle 0. Ties are broken (ties.h) among
/// the schedules with its order of ops, stages, groups and numbers of live copies. Most slack for
/// waits comes first, then shortest lifetimes, then earliest issues. Deterministic: the same
/// Problem and limits give the same Answer, `work` included.
schedule::Answer solve(const problem::Problem& problem, const Options& options = {});

/// The limits that are left after so much work.
Options left_of(Options limits, std::uint64_t spent);

}  // namespace twill::solve
