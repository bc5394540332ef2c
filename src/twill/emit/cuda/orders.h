#pragma once

#include "twill/emit/cuda/view.h"

/// Internal to the room: order of accesses to global memory that threads would have to keep.
namespace twill::emit::cuda {

/// Refuses kernels in which different threads may touch one place, of which one writes it and one
/// stands around the loop. Printed threads meet at no barrier there. Compared are accesses through
/// one argument. Accesses of the same places are kept in order by each thread, or by the value that
/// is stored. Two writes behind the loop, or in front of it, are taken to be of different places.
/// Cost: quadratic in the accesses.
Result<void> check_orders(const View& view);

}  // namespace twill::emit::cuda
