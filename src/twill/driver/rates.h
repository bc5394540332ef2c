#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/driver/kernel.h"
#include "twill/driver/pools.h"
#include "twill/driver/trial.h"
#include "twill/schedule/order.h"
#include "twill/schedule/region.h"

/// Internal to the driver: costs have two bounds, every op at its fastest and every op at its
/// slowest co-run rate. The hardware lies between them; the exact place depends on the order, so no
/// fixed costs give it (docs/decisions/0004-shared-pipes.md). Both rates are solved. The optimum
/// whose plan simulates fastest, with every op at its full rate, is kept.
namespace twill::driver {

struct BestRate {
  explicit BestRate(PosedPool chosen) : pool(std::move(chosen)) {}

  machine::Rate rate = machine::Rate::slowest;
  PosedPool pool;           ///< at that rate
  schedule::Answer answer;  ///< its claims hold over `pools`
  std::vector<std::string> pools;
  std::optional<report::Bracket> bracket;  ///< set if there is a schedule
  std::vector<report::Candidate> candidates;
  std::vector<Diagnostic> warnings;
  bool live_only = false;      ///< as in PosedKernel
  std::optional<Trial> trial;  ///< empty without a schedule, or if it breaks a rule
};

/// A kernel with the schedule that a strategy gives it.
struct ArrangedKernel {
  BestRate best;
  std::vector<std::string> circuit = {};
  std::optional<int> ring_depth = {};
  schedule::Regions regions = {};
};

/// Drafts and simulates the plan of an arrangement.
using Judge = std::function<Result<std::optional<Trial>>(const ArrangedKernel&)>;

/// Has the arrangement judged, and records the result in the candidate.
Result<void> judge_candidate(const Judge& judge, ArrangedKernel& arranged,
                             report::Candidate& candidate);

/// Candidate for the answer: a pool with every op at that rate, its interval, and the expected and
/// slowest intervals of its order. `waiting` as in `transfer_work`.
report::Candidate candidate_at(machine::Rate rate, const PosedPool& pool,
                               const schedule::Answer& answer, const PosedKernel& fastest,
                               const PosedKernel& slowest, Cycles waiting);

/// The least lower bound of any pool, without a search.
schedule::Bound least_bound(const PosedKernel& fastest);

/// Bracket from the lower bound of all schedules to the interval of the chosen order.
report::Bracket bracket_of(const schedule::Bound& fastest, const report::Candidate& chosen);

/// Indices of the candidates with a schedule, best first; only the first candidate if there is
/// none. Candidates of the requested rate come before others. Then the simulated interval decides,
/// within the simulator's error. Ties go by the co-run model with the cost of late loads, then by
/// the interval at the slowest rates.
std::vector<std::size_t> best_first(const std::vector<report::Candidate>& candidates,
                                    std::optional<machine::Rate> wanted);

/// Expected interval of the order in a loop with every op at its fastest. Units serve first come,
/// first served, or in turns if that is faster, since a plan has turns only where they help. Empty
/// if the order cannot be run.
std::optional<Cycles> co_run_interval(const problem::Problem& fastest,
                                      const schedule::Order& order);

/// Synchronization cost of a transfer: its latency for a 4-byte value.
Cycles waiting_of(const machine::Machine& machine);

/// Cycles of an iteration in which the busiest group writes values for others and reads theirs,
/// each side half of a transfer without `waiting`. A schedule, and its co-run, has a transfer as a
/// delay only. But the threads that write and read a tile are busy meanwhile.
Cycles transfer_work(const problem::Problem& problem, const schedule::Schedule& schedule,
                     Cycles waiting);

/// The order's least II in a loop with every op at its slowest. Empty if no schedule at that II
/// obeys all rules.
std::optional<Cycles> kept_interval(const problem::Problem& slowest, const schedule::Order& order);

/// Solves the loop at its fastest rates over all pools, which gives the lower bound. Then solves it
/// at the slowest rates for each pool that might still be faster; with `request.rate`, only at that
/// rate. Returns at least one kernel, in the order of `best_first`, which adds the busiest group's
/// share of transfers to the interval at the slowest rates. All solves together stay within
/// `limits.work_limit`.
Result<std::vector<ArrangedKernel>> solve_rates(const Kernel& kernel, const Request& request,
                                                const Judge& judge);

}  // namespace twill::driver
