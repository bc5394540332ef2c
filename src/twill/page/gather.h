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

/// Makes the facts of a loop's page from its outcome and runs.
namespace twill::page {

/// The loop as Triton compiles the kernel itself, in the model.
struct AsTriton {
  std::optional<double> cycles;  ///< of an iteration
  std::string why_none;          ///< in a line without a full stop; empty: not asked
};

/// The kernels that are printed of the plan, and the lines of each op in them, by OpId.
struct PrintedKernels {
  std::vector<std::vector<int>> cuda;  ///< lines of kernel.cu; empty: none is printed
  PrintedModule ttgir;
  std::vector<std::vector<int>> in_ttgir;  ///< lines of the module; empty: none is printed
};

/// Known answers. Each may be missing; without an outcome there must be a plan, and with a run its
/// plan.
struct Material {
  const char* command = "";  ///< "twill schedule"
  const report::Outcome* outcome = nullptr;
  const plan::Plan* plan = nullptr;
  const simulate::Simulation* run = nullptr;  ///< recorded, of that plan
  const problem::Problem* costs = nullptr;    ///< that the run had; null: the plan's own
  const explain::Explanation* explanation = nullptr;
  const report::Comparison* comparison = nullptr;
  AsTriton triton;
  std::optional<double> measured;  ///< cycles of an iteration, as the user measured them
  PrintedKernels printed;
  std::string certificate;  ///< folder of a certificate that was written and accepted
};

/// Deterministic. Cost: about the number of spans of the run, and of ops squared.
Facts gather(const Material& material);

}  // namespace twill::page
