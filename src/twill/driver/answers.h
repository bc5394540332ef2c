#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>

#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

namespace twill::driver {

/// Answers by Problem and limits, so that many requests together solve each Problem once. Several
/// threads may share one. Requests that may be cancelled must not share: others would get their
/// stopped answers.
class Answers {
 public:
  /// Answer of solve::solve for these. The first caller solves, later ones wait for it. The name of
  /// the Problem does not matter. An answer is the same, `work` included, whether it was solved or
  /// shared.
  schedule::Answer solve(const problem::Problem& problem, const solve::Options& limits);

  /// Problems solved so far, and answers asked for.
  std::size_t solved() const;
  std::size_t asked() const;

 private:
  mutable std::mutex mutex_;  ///< guards the members below
  std::map<std::string, std::shared_future<schedule::Answer>> answers_;
  std::size_t asked_ = 0;
};

/// solve::solve, by way of `answers` unless that is null.
schedule::Answer solve_with(Answers* answers, const problem::Problem& problem,
                            const solve::Options& limits);

}  // namespace twill::driver
