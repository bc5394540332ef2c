#pragma once

#include <cstdint>

#include "twill/driver/driver.h"
#include "twill/run/warp_roles.h"

namespace twill::driver {

/// A module whose warps have roles, and facts proven about all its runs.
struct VerifiedModule {
  ir::Program program;
  run::RolesProof proof;
};

/// Whether the input is TTGIR, as `verify_module` needs.
bool is_module(const Input& input);

/// Proves for every trip count that a module's roles neither hang nor race nor miss a phase.
/// Otherwise finds the shortest run in which they do. Fails for input that cannot be read, and for
/// a module without roles. Faults of the module, and parts that cannot be followed, are no failure:
/// the proof lists them. `at_least`: number of iterations that every loop is assumed to make.
Result<VerifiedModule> verify_module(const Input& input, std::int64_t at_least = 0);

/// Verdict on the roles of a printed module.
struct PrintedCheck {
  std::string unchecked;  ///< reason why they are not proven for every trip count; else empty
  std::string broken;     ///< report of a rule that they break: a bug of Twill; else empty
  bool has_run = false;   ///< whether they were run under many orders
};

/// Runs the roles of a printed module, without tiles, and proves them for every trip count. Cost:
/// under 0.2 s for most bundled kernels, 1.2 s for a loop over tiles around a ring of six.
PrintedCheck check_printed(const std::string& text);

}  // namespace twill::driver
