#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/kernel.h"
#include "twill/driver/rates.h"
#include "twill/plan/plan.h"

/// Internal to the driver: schedules by other strategies than `twill`.
namespace twill::driver {

/// A Problem with the order that a strategy gives it.
struct ArrangedProblem {
  explicit ArrangedProblem(problem::Problem what) : problem(std::move(what)) {}

  problem::Problem problem;  ///< with the rules that the strategy relaxes and adds
  schedule::Answer answer;
  std::vector<std::string> circuit;
  std::vector<std::string> notes;
  std::optional<int> ring_depth;
  schedule::Regions regions;
};

/// Arranges by the strategy of the request; `twill` solves. Fails if the strategy does not apply.
Result<ArrangedProblem> arrange_problem(problem::Problem problem, const Request& request);

/// Arranges the loop for each pool, at least one. Arrangements are sorted by the simulated interval
/// of their plans; without plans, by the expected interval of their orders.
Result<std::vector<ArrangedKernel>> arrange_kernel(const Kernel& kernel, const Request& request,
                                                   const Judge& judge);

/// The Problem of a kernel for its first pool with every op at that rate, as the request's strategy
/// poses it. Its transfers are those of `plan`, a plan of this kernel.
Result<problem::Problem> posed_at(const Request& request, const Kernel& kernel,
                                  const plan::Plan& plan, machine::Rate rate);

}  // namespace twill::driver
