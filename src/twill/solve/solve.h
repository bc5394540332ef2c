#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

/// Joint modulo schedule and warp-group assignment of a Problem, with proof of optimality.
///
/// The search walks down a lexicographic order: first the smallest initiation interval, then the
/// objectives in the order the Problem lists them. A refutation ("there is no better one") of a
/// small conflict-driven engine (engine.h) closes every level. The engine's encoding has residues
/// and unbounded stages (encode.h; reasons: docs/decisions/0003-engine.md).
namespace twill::solve {

class ProofSink;

/// State of the search; passed to `Options::progress` now and then.
struct Progress {
  std::string_view level;             ///< "initiation_interval", "groups", "crossings", "length"
  std::optional<std::int64_t> value;  ///< best value of this level so far, if any
  std::int64_t bound = 0;             ///< proven lower bound of this level
  std::uint64_t work = 0;             ///< work units spent so far
};

/// Limits and callbacks of one call. Only `most_interval`, `least_interval` and `room_for_staging`
/// can change the optimum; the other members decide whether it is reached.
struct Options {
  /// Work units after which the search stops; a unit is about one touched clause, constraint or
  /// difference edge, some tens of nanoseconds. The default takes about 10 seconds.
  std::uint64_t work_limit = 500'000'000;

  /// Work units after which the search hurries: it leaves a level once some more work has brought
  /// neither a better value nor a better bound. The default takes some seconds.
  std::uint64_t hurry_after = 300'000'000;

  /// Bytes the engine may hold for clauses, atoms and constraints.
  std::size_t memory_limit = std::size_t{400} << 20;

  /// Limit on combinations of alternatives: the first in lexicographic order are tried. Beyond the
  /// limit the verdict is at best `feasible`, without a claim about the others.
  std::size_t most_combinations = 256;

  /// Largest II of interest. If every schedule has a larger II, the verdict is `undecided` and the
  /// lower bound exceeds this.
  std::optional<Cycles> most_interval;

  /// Lower bound on the II that the caller has proven. With it there is no `proof`.
  Cycles least_interval = 1;

  /// Restricts schedules to those that leave memory for one copy of each value in registers that
  /// changes groups (problem/staging.h). All claims are then about these schedules. No effect in a
  /// Problem with transfers. With it `solve` writes no `proof`; `confirm` does.
  bool room_for_staging = false;

  /// Schedule that obeys the rules, to start from. It is used where the search for its combination
  /// of alternatives does not quickly find one as fast. With a `most_interval` that it keeps, no
  /// other is searched for.
  std::optional<schedule::Schedule> start;

  /// Called between searches and every few thousand conflicts, on the calling thread.
  std::function<void(const Progress&)> progress;

  /// Called as often as `progress`; true ends the search like an exhausted limit.
  std::function<bool()> cancelled;

  /// Counter to which every call adds its work, whatever the outcome. Calls that share a counter
  /// run on one thread.
  std::uint64_t* tally = nullptr;

  /// Receives every refutation as a proof that an independent program can check (proof.h).
  ProofSink* proof = nullptr;
};

/// Solves `problem`. Never fails: the verdict names undecided questions.
///
/// - `optimal`: the schedule is best in every level, and every level is proven.
/// - `feasible`: a schedule, and for each level a proven lower bound. A limit ended the search, or
///   hurry ended a level.
/// - `infeasible`: no schedule at any initiation interval; `argument` says why.
/// - `undecided`: no schedule found and no proof; `lower_bound` holds nevertheless.
///
/// The schedule obeys the rules in force (checked here on the folded steady state; `verify` checks
/// it once more by simulation) and its earliest issue is cycle 0. Ties are broken (ties.h) among
/// the schedules with its order of ops, stages, groups and numbers of live copies. Most slack for
/// waits comes first, then shortest lifetimes, then earliest issues. Deterministic: the same
/// Problem and limits give the same Answer, `work` included.
schedule::Answer solve(const problem::Problem& problem, const Options& options = {});

/// Limits that remain after this much work.
Options left_of(Options limits, std::uint64_t spent);

}  // namespace twill::solve
