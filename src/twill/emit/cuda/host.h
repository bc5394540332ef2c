#pragma once

#include "twill/emit/cuda/maps.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// Prints the struct of the kernel's arguments: its tensor maps, and the other arguments of the
/// TTGIR function, numbered as there. Fails for types that CUDA does not have.
Result<void> print_arguments(Text& text, const View& view, const Maps& maps);

/// Prints the function that encodes the tensor maps and launches. Its parameters are the grid, a
/// stream, and the parameters of the TTGIR function, a descriptor by the address of its tensor.
Result<void> print_launch(Text& text, const View& view, const Maps& maps);

}  // namespace twill::emit::cuda
