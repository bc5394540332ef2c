#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/ends.h"
#include "twill/driver/kernel.h"
#include "twill/plan/plan.h"

/// Internal to the driver: schedules by other strategies than `twill`.
namespace twill::driver {

/// How one Problem is arranged.
struct ArrangedProblem {
  explicit ArrangedProblem(problem::Problem what) : problem(std::move(what)) {}

  problem::Problem problem;  ///< with what the strategy relaxes and adds
  schedule::Answer answer;
  std::vector<std::string> circuit;
  std::vector<std::string> notes;
  std::optional<int> ring_depth;
  schedule::Regions regions;
};

/// By the strategy of the request; `twill` solves. Fails if the strategy cannot be had.
Result<ArrangedProblem> arrange_problem(problem::Problem problem, const Request& request);

/// Arranges the loop for each pool and keeps the one whose order is expected to be fastest.
struct ArrangedKernel {
  BestEnd end;
  std::vector<std::string> circuit;
  std::optional<int> ring_depth;
  schedule::Regions regions;
};
Result<ArrangedKernel> arrange_kernel(const Kernel& kernel, const Request& request);

/// The Problem of a kernel for the request's pool with every op at its fastest, as the request's
/// strategy poses it. Of hand-offs it has those of the plan, which is one of this kernel.
Result<problem::Problem> posed_at_fastest(const Request& request, const plan::Plan& plan);

}  // namespace twill::driver
