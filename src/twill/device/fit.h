#pragma once

#include "twill/device/build.h"

namespace twill::device {

/// Bytes of shared memory that a kernel takes: buffers, barriers, and for each role the scratch
/// memory of its largest change of layout, which a printer's compiler allocates.
std::int64_t shared_bytes(const Kernel& kernel);

/// The kernel within `capacity` bytes of shared memory. The plan knows nothing of scratch memory
/// and of boxes that several roles fill: where these do not fit beside its buffers, boxes lie where
/// tiles lay that are done with; then the deepest rings lose a copy, and the plan is proven again,
/// until all fits. What was taken is in the kernel's notes. Fails as `build` does,
/// and if no copy is left to take.
Result<Kernel> build_within(const Parts& parts, std::int64_t capacity);

}  // namespace twill::device
