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
/// threads may share the object. Requests that may be cancelled must not share it: others would get
/// their stopped answers.
class Answers {
 public:
  /// The answer of solve::solve to this Problem with these limits. The first caller solves; later
  /// callers wait for the answer. The name of the Problem does not matter. An answer is the same,
  /// `work` included, whether it was solved or shared.
  schedule::Answer solve(const problem::Problem& problem, const solve::Options& limits);

  /// Numbers of Problems solved so far, and of answers requested.
  std::size_t solved() const;
  std::size_t asked() const;

 private:
  mutable std::mutex mutex_;  ///< guards the members below
  std::map<std::string, std::shared_future<schedule::Answer>> answers_;
  std::size_t asked_ = 0;
};

/// solve::solve, through `answers` unless that is null.
schedule::Answer solve_with(Answers* answers, const problem::Problem& problem,
                            const solve::Options& limits);

}  // namespace twill::driver
