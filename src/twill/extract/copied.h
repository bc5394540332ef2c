#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/ir/loop.h"

/// Tiles that are copied into shared memory, and what they are copied by.
namespace twill::extract {

/// The tile that an op of the Problem loads: of what it loads the largest, beside indices that its
/// addresses are made of. Empty if it loads nothing itself.
std::optional<ir::ValueId> loaded_by(const ir::Program& program, const OpOrigin& origin);

/// Where the text puts a value into shared memory, perhaps in another layout of registers.
std::vector<ir::OpId> allocations_of(const ir::Program& program, ir::ValueId value);

/// Layout of the copy that a load leaves in shared memory: of the buffer that the tile is put into,
/// or else of the descriptor; null: any. nullopt: buffers have two.
std::optional<ir::Attribute> layout_in_memory(const ir::Program& program, ir::OpId load);

/// Values that some values of a loop are made of in the loop, and in the iterations before. What
/// `given` are made of is left out.
std::set<ir::ValueId> made_in(const ir::Program& program, const ir::Loop& loop,
                              std::vector<ir::ValueId> values, const std::set<ir::ValueId>& given);

}  // namespace twill::extract
