#pragma once

#include "twill/emit/cuda/view.h"

/// Internal to the room: order of accesses to global memory that threads would have to keep.
namespace twill::emit::cuda {

/// Refuses kernels in which two accesses through one argument may touch one place from different
/// threads, one of them writes, and one stands around the loop. Printed threads meet at no barrier
/// there. Accesses of the same places are kept in order by each thread, or by the value that is
/// stored. Two writes behind the loop, or in front of it, are taken to be of different places.
/// Cost: quadratic in the accesses.
Result<void> check_orders(const View& view);

}  // namespace twill::emit::cuda
