#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/tasks/values.h"

/// Whether iterations of a prange have parts of a tensor that share no element.
namespace twill::tasks {

/// Number of leading blocks that distinguish all iterations: iterations with equal places in these
/// blocks are the same. nullopt if no number can be shown. Places are read as sums of indices times
/// sizes: by rank, by an index that occurs alone, and as digits (`i * 4 + j` with j < 4). Cost:
/// indices^2 times dimensions.
std::optional<std::size_t> tell_apart(const std::vector<Block>& blocks,
                                      const std::vector<Dimension>& range);

/// Two iterations, by index of the range.
struct Iterations {
  std::vector<std::int64_t> one, other;
};
/// Two of the first iterations that have the same part; nullopt if there are none.
std::optional<Iterations> with_same_part(const std::vector<Block>& blocks,
                                         const std::vector<Dimension>& range);

}  // namespace twill::tasks
