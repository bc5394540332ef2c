#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Objection to a layout that no NVIDIA GPU has. Examples: a warp without 32 threads, no warp, an
/// order that is no permutation, a swizzle of 48 bytes. Checks the layouts of the text, including
/// those of threads and warps, which the Program drops. Empty for a possible layout, or one of
/// unknown kind. Cost: linear in the parts.
std::optional<std::string> impossible_layout(ir::Attribute layout);
std::optional<std::string> impossible_launch(const ir::Op& module);

/// Objection to a layout that distributes a tile to more or fewer warps than run the op. Empty if
/// the layout does not state a number of warps.
std::optional<std::string> impossible_warps(ir::Attribute layout, std::int64_t warps);

/// Number of warps that run an op: of its partition, function or module. nullopt if not stated.
std::optional<std::int64_t> warps_of(const ir::Program& program, ir::OpId op);

/// Objection to a register layout for a tile in memory, or the reverse, or to a layout with another
/// number of dimensions than its tile.
std::optional<std::string> impossible_place(ir::Type type);

/// Whether a vector's layout is the slice of a tile's layout along `axis`, as for a reduction or a
/// new dimension. True for unknown layouts.
bool is_slice_along(ir::Attribute vector, ir::Attribute tile, std::int64_t axis);

}  // namespace twill::frontend::ttgir
