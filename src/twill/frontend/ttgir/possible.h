#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// What no GPU of NVIDIA's can do: a warp that has not 32 threads, no warp at all, an order that is
/// no permutation, a swizzle of 48 bytes. Of layouts by their names in the text, those of threads
/// and warps among them, which the Program drops; of a module, of the launch that it was compiled
/// for. Nothing: it is possible, or of a kind that is not known. Cost: linear in the parts.
std::optional<std::string> impossible_layout(ir::Attribute layout);
std::optional<std::string> impossible_launch(const ir::Op& module);

}  // namespace twill::frontend::ttgir
