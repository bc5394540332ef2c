#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/driver/plan_loop.h"
#include "twill/emit/cuda.h"

namespace twill::driver {

/// A kernel, printed.
struct EmittedCuda {
  PlannedLoop planned;  ///< look at its plan first, as with plan_loop
  /// The files: "kernel.cu", "runtime/...", "kernel.json", "kernel.ttgir", and "stamps.json" if the
  /// kernel has stamps. Empty without a plan.
  std::map<std::string, std::string> files;
  std::vector<emit::ExpectedLoop> loops;  ///< loops that the machine code should have
};

/// Door of CUDA. Where a plan with transfers is not printed, another plan may be.
const Door& cuda_door();

/// Prints the kernel of the request's answer (`answer_loop`, by `cuda_door`) with the runtime
/// headers it includes. If the best plan cannot be printed, the answer has another pool or
/// strategy, and the outcome a warning. Fails for bad input (a `.loop` text has no kernel to
/// print), and for kernels that the printer cannot express.
Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps = emit::Stamps::none);

/// The text of `kernel.cu` of an answer with a plan. Fails as `emit_cuda` does.
Result<std::string> kernel_text(const PlannedLoop& planned, const std::string& input,
                                emit::Stamps stamps = emit::Stamps::none);

}  // namespace twill::driver
