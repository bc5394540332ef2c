#pragma once

#include <optional>

#include "twill/problem/ops.h"

/// Memory for register values that change groups by a delay alone, without transfer ops. No rule
/// charges this memory, but every plan needs it: a value waits there for its readers in other
/// groups.
namespace twill::problem {

/// Memory in which such values wait: the first that is not TMEM. Empty if the loop has no other
/// memory.
std::optional<MemoryId> staging_memory(const Problem& problem);

/// Bytes of one copy of such a value; `warps` is the width of the value's group.
Amount staged_bytes(const Op& value, int warps);

}  // namespace twill::problem
