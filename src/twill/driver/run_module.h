#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/run/warp_roles.h"

namespace twill::driver {

/// How a module whose warps have roles is to be run.
struct RunModuleRequest {
  Input module;
  std::string against;  ///< the file of the kernel that it comes from; empty: none
  run::FixedArguments given;
  std::vector<std::int64_t> trips;  ///< empty: 0 to twice the deepest ring and one more, 4 at least
  std::uint64_t seed = 1;
  int seeds = 1;
  bool tiles = true;      ///< compute tiles; else only who waits for whom is looked at
  bool to_first = false;  ///< end with the first run in which something is found
};

/// The first function whose warps have roles. Fails if there is none.
Result<ir::OpId> function_with_roles(const ir::Program& program);

/// Findings, with the module that they are about.
struct RanModule {
  ir::Program program;
  run::RolesReport report;
};

/// Reads a module, with whole descriptors in place of the maps that it writes into scratch memory.
Result<ir::Program> read_module(const Input& module);

/// Runs the module's roles under many orders and, with a kernel, compares what they compute. Fails
/// for what cannot be read or executed, and for a module without roles. What is wrong with the
/// module is no failure: look at the report.
Result<RanModule> run_module(const RunModuleRequest& request);

}  // namespace twill::driver
