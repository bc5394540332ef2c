#pragma once

#include <span>
#include <string>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/gate/code.h"
#include "twill/ir/program.h"
#include "twill/plan/proof.h"

/// Proven plans as CUDA C++ for sm_90a. Nothing is decided here: which role does what, in which
/// order, behind which barrier and in which buffer, all that is the plan's.
namespace twill::emit {

/// Moments that an instrumented kernel records (runtime/stamps.cuh).
enum class Stamps {
  none,
  sections,  ///< the beginning of each section of each role: a few instructions a tile
  steps,     ///< the beginning of each step, in every iteration
};

/// Input of the printer. The Program has the computation, the origins the operations of each op of
/// the plan, and the plan all else.
struct KernelParts {
  const ir::Program& program;
  ir::OpId loop;                               ///< the loop the plan is for
  std::span<const extract::OpOrigin> origins;  ///< by problem::OpId
  const plan::ProvenPlan& plan;
  std::string input;  ///< name of the text the Program was read from, for the head comment
  Stamps stamps = Stamps::none;
};

/// Fails if the kernel was compiled for a GPU that the printer does not have yet.
Result<void> check_target(const ir::Program& program);

/// A complete `kernel.cu`: the kernel, and a function that launches it with the arguments of the
/// TTGIR function. It includes the headers of `runtime/` as "runtime/...".
/// docs/reference/cuda.md has its interface and its numerics.
///
/// Fails for an operation that it cannot express, with its line in the TTGIR. Deterministic. Cost:
/// about linear in the length of the text.
Result<std::string> cuda_kernel(const KernelParts& parts);

/// Machine code that a role's steady state must have for its planned overlaps. Its waits; before
/// each, the wgmma instructions and exponentials of tiles, of one thread.
struct ExpectedLoop {
  std::string role;
  gate::LoopCode code;  ///< without an address
};

/// Expected loop of each role with waits in its steady state. Fails as `cuda_kernel` does.
Result<std::vector<ExpectedLoop>> expected_loops(const KernelParts& parts);

/// Legend of the stamps of an instrumented kernel, as JSON: docs/reference/cuda.md.
std::string cuda_stamps(const plan::ProvenPlan& plan, Stamps stamps);

}  // namespace twill::emit
