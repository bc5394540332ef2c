#pragma once

#include <optional>
#include <string>

#include "twill/emit/cuda/scalars.h"

/// Changes of addresses from an iteration of the loop to the next.
namespace twill::emit::cuda {

/// Induction increment of a tile's elements, or of a scalar, from an iteration to the next, as an
/// expression. "0" if the value does not change; nullopt if elements do not all grow alike. As in
/// Triton's own analysis, indices do not overflow.
std::optional<std::string> growth_of(const View& view, Scalars& scalars, ir::ValueId value);

}  // namespace twill::emit::cuda
