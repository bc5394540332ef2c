#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/run/warp_roles.h"

namespace twill::driver {

/// Options of a run of a module whose warps have roles.
struct RunModuleRequest {
  Input module;
  std::string against;  ///< file of the original kernel; empty: none
  run::FixedArguments given;
  std::vector<std::int64_t> trips;  ///< empty: 0 to twice the deepest ring and one more, 4 at least
  std::uint64_t seed = 1;
  int seeds = 1;
  bool tiles = true;      ///< compute tiles; false: check only barriers and waits
  bool to_first = false;  ///< stop at the first run with a finding
};

/// The first function whose warps have roles. Fails if there is none.
Result<ir::OpId> function_with_roles(const ir::Program& program);

/// Findings, with the module to which they belong.
struct RanModule {
  ir::Program program;
  run::RolesReport report;
};

/// Reads a module, with whole descriptors in place of the maps that it writes into scratch memory.
Result<ir::Program> read_module(const Input& module);

/// Runs the module's roles under many orders. With a kernel, also compares their results. Fails for
/// a module that cannot be read or executed, or that has no roles. A faulty module is no failure:
/// the report says so.
Result<RanModule> run_module(const RunModuleRequest& request);

}  // namespace twill::driver
