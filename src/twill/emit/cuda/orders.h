#pragma once

#include "twill/emit/cuda/view.h"

/// Internal to the room: order of accesses to global memory that threads would have to keep.
namespace twill::emit::cuda {

/// Refuses kernels in which different threads may access one place without an order. At least one
/// access writes, and at least one is outside the loop, where printed threads meet at no barrier.
/// Accesses through one argument are compared. Accesses of the same places are ordered by each
/// thread, or by the value that is stored. Two writes after the loop, or before it, are taken to be
/// of different places. Cost: quadratic in the accesses.
Result<void> check_orders(const View& view);

}  // namespace twill::emit::cuda
