#pragma once

#include <string>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/report/outcome.h"
#include "twill/solve/solve.h"

/// Internal to the driver: one loop, several pools of warp groups to run it with.
namespace twill::driver {

class Answers;

/// The loop as it is posed for one pool.
struct PosedPool {
  std::string pool;
  problem::Problem problem;
  std::vector<extract::OpOrigin> origins;   ///< by OpId
  std::vector<std::string> notes;           ///< approximations of the extraction
  std::vector<extract::Reserved> reserved;  ///< memory that the loop reserves throughout
};

struct BestPool {
  std::size_t index = 0;    ///< index of the answer's pool
  schedule::Answer answer;  ///< its claims hold over all pools
  std::vector<report::PoolTried> tried;
  std::vector<schedule::Bound> bounds;  ///< by pool: no schedule of the pool has a smaller II
  std::uint64_t work = 0;               ///< work of all solves together
  std::uint64_t looked = 0;             ///< work of last looks, as `weight_of_look` counts it
  std::vector<std::size_t> cramped;  ///< pools left out, since no schedule of theirs can be built
};

/// Solves the loop for every pool and keeps the best. Order: smallest II, fewest missing compute
/// groups, the objectives in turn, position in `pools`. A pool is not solved if its lower bound
/// exceeds the best II so far, or if it is proven to have no better schedule. Other pools are
/// solved only as far as they might reach that II. A cramped pool is not solved if another pool has
/// a schedule. All solves together stay within `limits.work_limit`. Precondition: at least one
/// pool. `answers` may be null: solve_with.
BestPool solve_pools(const std::vector<PosedPool>& pools, const solve::Options& limits,
                     Answers* answers = nullptr);

/// Limits for a pool once another pool has an answer: in a hurry, a last look at most. `looked`:
/// weight of earlier looks, which share a limit.
solve::Options for_one_more(solve::Options limits, std::uint64_t looked);

/// Work of a last look. A look that found no schedule counts twice, since the next is as likely to
/// find none.
std::uint64_t weight_of_look(const schedule::Answer& answer);

/// Whether a pool is cramped, since it was so when no op took longer. `best` is about the pools
/// `before`.
bool stays_cramped(const PosedPool& pool, const std::vector<PosedPool>& before,
                   const BestPool& best);

}  // namespace twill::driver
