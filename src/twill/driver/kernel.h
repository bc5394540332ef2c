#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/driver/pools.h"
#include "twill/extract/choose_loop.h"
#include "twill/ir/program.h"
#include "twill/machine/machine.h"

/// Internal to the driver: from the text of a Triton kernel to Problems.
namespace twill::driver {

/// A kernel that was read, and what of it is to be scheduled for what.
struct Kernel {
  ir::Program program;
  extract::LoopChoice choice;
  machine::Machine machine;
  std::vector<std::string> pools;  ///< in the machine's order, or the one asked for
  std::vector<std::string> notes;  ///< what the Program has otherwise than the text
};

/// Reads the text, gives flattened loops over tiles their nest back, and chooses loop, machine and
/// pools.
Result<Kernel> read_kernel(const Request& request);

/// "loop 0 of 2, line 34"
std::string loop_in_words(const Kernel& kernel);

struct PosedKernel {
  std::vector<PosedPool> pools;             ///< at least one
  std::vector<report::PoolTried> left_out;  ///< pools this loop cannot be posed for, and why
  std::vector<Diagnostic> warnings;
};

/// Extracts one Problem per pool. Fails if that fails for every pool.
Result<PosedKernel> pose_kernel(const Kernel& kernel, const Request& request, machine::Rate rate);

/// A sentence on products outside of the loop, of which a plan has no steps: those before it or
/// behind it, or of another loop. Nothing without any.
std::optional<std::string> products_elsewhere(const Kernel& kernel);

}  // namespace twill::driver
