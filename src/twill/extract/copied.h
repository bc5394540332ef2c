#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/ir/loop.h"

/// Tiles that are copied into shared memory, and the operations that copy them.
namespace twill::extract {

/// The tile that an op of the Problem loads: the largest, if it also loads indices for its
/// addresses. Empty if the op loads nothing itself.
std::optional<ir::ValueId> loaded_by(const ir::Program& program, const OpOrigin& origin);

/// Where the text puts a value into shared memory, perhaps in another layout of registers.
std::vector<ir::OpId> allocations_of(const ir::Program& program, ir::ValueId value);

/// Layout of the copy that a load leaves in shared memory: of the buffer that the tile is put into,
/// or else of the descriptor; null: any. nullopt: buffers have two.
std::optional<ir::Attribute> layout_in_memory(const ir::Program& program, ir::OpId load);

/// Sources of some values in the loop, and in earlier iterations. Does not go beyond `given`.
std::set<ir::ValueId> made_in(const ir::Program& program, const ir::Loop& loop,
                              std::vector<ir::ValueId> values, const std::set<ir::ValueId>& given);

}  // namespace twill::extract
