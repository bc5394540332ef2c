#pragma once

#include <optional>

#include "twill/problem/ops.h"

/// Memory for values in registers that change groups by a delay alone. No rule demands it, but
/// every plan does: a value waits there for its readers in other groups.
namespace twill::problem {

/// The memory in which such values wait: the first but TMEM. Empty if the loop has no other.
std::optional<MemoryId> staging_memory(const Problem& problem);

/// Bytes that one copy of such a value takes there; `warps` is the width of the group that makes
/// it.
Amount staged_bytes(const Op& value, int warps);

}  // namespace twill::problem
