#pragma once

#include <map>
#include <string>

#include "twill/driver/plan_loop.h"

namespace twill::driver {

/// A kernel, printed.
struct EmittedCuda {
  PlannedLoop planned;                       ///< look at its plan first, as with plan_loop
  std::map<std::string, std::string> files;  ///< "kernel.cu", "runtime/...": empty without a plan
};

/// Schedules and plans the loop, and prints the kernel with the runtime headers it includes. Fails
/// for bad input (a `.loop` text has no kernel to print), and for what the printer cannot express.
Result<EmittedCuda> emit_cuda(const Request& request);

}  // namespace twill::driver
