#pragma once

#include <optional>

#include "twill/device/build.h"

namespace twill::driver {

/// Bytes of shared memory that a kernel takes: buffers, barriers, and scratch memory. A printer's
/// compiler allocates scratch memory for the largest change of layout of each role.
std::int64_t shared_bytes(const device::Kernel& kernel);

/// A kernel, and the plan with fewer copies from which it was made; empty: the plan of `parts`.
struct Fitted {
  device::Kernel kernel;
  std::optional<plan::ProvenPlan> plan;
};

/// The kernel within `capacity` bytes of shared memory. The plan counts neither scratch memory nor
/// boxes that several roles fill. If these do not fit beside its buffers, boxes first take the
/// places of tiles that are no longer needed. Then the deepest rings lose a copy, and the plan is
/// proven again, until all fits. The kernel's notes list the lost copies. Fails as `build` does,
/// and if no ring has a copy to lose.
Result<Fitted> build_within(const device::Parts& parts, std::int64_t capacity);

}  // namespace twill::driver
