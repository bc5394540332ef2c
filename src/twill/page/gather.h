#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/explain/print.h"
#include "twill/page/facts.h"
#include "twill/plan/plan.h"
#include "twill/report/comparison.h"
#include "twill/report/outcome.h"
#include "twill/simulate/simulate.h"

/// Facts of a loop's page, made from its outcome and runs.
namespace twill::page {

/// Loop as Triton compiles the kernel itself, in the model.
struct AsTriton {
  std::optional<double> cycles;  ///< cycles of an iteration
  std::string why_none;          ///< reason for a missing figure, in a line without a full stop;
                                 ///< empty: not asked
};

/// Kernels that are printed from the plan, with the lines of each op in them, by OpId.
struct PrintedKernels {
  std::vector<std::vector<int>> cuda;  ///< lines of kernel.cu; empty: it is not printed
  PrintedModule ttgir;
  std::vector<std::vector<int>> in_ttgir;  ///< lines of the module; empty: it is not printed
};

/// Known answers. Each may be missing. Without an outcome there must be a plan, and with a run its
/// plan.
struct Material {
  const char* command = "";  ///< "twill schedule"
  const report::Outcome* outcome = nullptr;
  const plan::Plan* plan = nullptr;
  const simulate::Simulation* run = nullptr;  ///< recorded run of that plan
  const problem::Problem* costs = nullptr;    ///< costs of the run; null: the plan's own
  const explain::Explanation* explanation = nullptr;
  const report::Comparison* comparison = nullptr;
  AsTriton triton;
  std::optional<double> measured;  ///< cycles of an iteration that the user measured
  PrintedKernels printed;
  std::string certificate;  ///< folder of a written and accepted certificate
};

/// Makes the facts. Deterministic. Cost: about the number of spans of the run, and of ops squared.
Facts gather(const Material& material);

}  // namespace twill::page
