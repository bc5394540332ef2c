#pragma once

#include <map>
#include <optional>
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
  std::vector<emit::ExpectedLoop> loops;     ///< what the machine code should show
};

/// Prints the kernel of the request's answer (`answer_loop`) with the runtime headers it includes.
/// Where a kernel cannot be printed and its groups hand values to each other, the answer is another
/// pool's or strategy's, and a warning of the outcome says so. Fails for bad input (a `.loop` text
/// has no kernel to print), and for what the printer cannot express.
Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps = emit::Stamps::none);

/// What the compiler made of a kernel, and why it must not be used; empty refusals: it may.
struct GateVerdict {
  std::vector<std::string> facts;  ///< registers, spills, what the machine code does, a line each
  std::vector<std::string> refusals;
  bool compiled = false;       ///< nvcc took it: what is refused is what ptxas made of it
  bool overlaps_lost = false;  ///< a refusal says that the code does not overlap as planned
};

/// Compiles `folder`/kernel.cu, an emitted kernel, to `folder`/kernel.cubin and judges ptxas'
/// report and, where there is a disassembler, the machine code: registers, local memory, and
/// whether the waits of each role stand where the plan has them. Fails where there is no nvcc.
Result<GateVerdict> compile_emitted(const EmittedCuda& emitted, const std::string& folder);

/// The next thing to try with a kernel that was refused, in the order: pins, if overlaps are lost;
/// more spare registers, so that it is solved again with a tighter budget (not for an alternative,
/// which then would be another schedule). Nothing after three rounds, or if nvcc did not take it.
/// What would be left is a smaller tile, which only the TTGIR can have.
struct Remedy {
  Request request;
  std::string words;  ///< "with 8 more registers of each thread kept free"
};
std::optional<Remedy> remedy_for(const Request& request, const GateVerdict& verdict);

}  // namespace twill::driver
