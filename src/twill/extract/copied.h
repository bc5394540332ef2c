#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/ir/loop.h"

/// Tiles copied into shared memory, with the operations that copy them.
namespace twill::extract {

/// Tile that an op of the Problem loads; the largest tile, if the op also loads indices for its
/// addresses. Empty if the op itself loads no tile.
std::optional<ir::ValueId> loaded_by(const ir::Program& program, const OpOrigin& origin);

/// Allocations of shared memory that the text fills with a value, perhaps in another register
/// layout.
std::vector<ir::OpId> allocations_of(const ir::Program& program, ir::ValueId value);

/// Layout of a load's copy in shared memory: the buffer's layout, or else the descriptor's; null:
/// any layout. nullopt if several buffers have different layouts.
std::optional<ir::Attribute> layout_in_memory(const ir::Program& program, ir::OpId load);

/// Sources of some values in this and earlier iterations of the loop. Does not look beyond `given`.
std::set<ir::ValueId> made_in(const ir::Program& program, const ir::Loop& loop,
                              std::vector<ir::ValueId> values, const std::set<ir::ValueId>& given);

}  // namespace twill::extract
