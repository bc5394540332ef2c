#pragma once

#include "twill/plan/plan.h"

/// Internal to the CUDA printer: shared memory and threads of a CTA.
namespace twill::emit::cuda {

/// Dynamic shared memory of a CTA, in bytes: the plan's buffers, followed by the mbarriers.
struct SharedMemory {
  Amount barriers_at = 0;
  Amount barrier_bytes = 0;
};
SharedMemory shared_memory_of(const plan::Plan& plan);

int threads_of(const plan::Plan& plan);

}  // namespace twill::emit::cuda
