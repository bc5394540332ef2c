#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Parts that no GPU of NVIDIA's can have: a warp without 32 threads, no warp at all, an order that
/// is no permutation, a swizzle of 48 bytes. Layouts go by their names in the text, those of
/// threads and warps among them, which the Program drops; a module by the launch that it was
/// compiled for. Nothing: it is possible, or of an unknown kind. Cost: linear in the parts.
std::optional<std::string> impossible_layout(ir::Attribute layout);
std::optional<std::string> impossible_launch(const ir::Op& module);

/// Whether a vector's layout is the slice of a tile's that a reduction along `axis`, or a new
/// dimension there, makes of it or takes. True for layouts of which that is not known.
bool is_slice_along(ir::Attribute vector, ir::Attribute tile, std::int64_t axis);

}  // namespace twill::frontend::ttgir
