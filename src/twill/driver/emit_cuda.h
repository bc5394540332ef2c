#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/driver/plan_loop.h"
#include "twill/emit/cuda.h"

namespace twill::driver {

/// A kernel, printed.
struct EmittedCuda {
  PlannedLoop planned;                       ///< look at its plan first, as with plan_loop
  std::map<std::string, std::string> files;  ///< "kernel.cu", "runtime/...", "stamps.json" if
                                             ///< there are any: empty without a plan
};

/// Schedules and plans the loop, and prints the kernel with the runtime headers it includes. Fails
/// for bad input (a `.loop` text has no kernel to print), and for what the printer cannot express.
Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps = emit::Stamps::none);

/// What the compiler made of a kernel, and why it must not be used; empty refusals: it may.
struct GateVerdict {
  std::vector<std::string> facts;  ///< registers, spills, what the machine code does, a line each
  std::vector<std::string> refusals;
};

/// Compiles `folder`/kernel.cu to `folder`/kernel.cubin and judges ptxas' report and, where there
/// is a disassembler, the machine code. Fails where there is no nvcc.
Result<GateVerdict> compile_emitted(const std::string& folder);

}  // namespace twill::driver
