#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/tasks/values.h"

/// Shows that iterations of a prange use parts of a tensor without common elements.
namespace twill::tasks {

/// Number of leading blocks that distinguish all iterations: iterations with equal places in these
/// blocks are the same iteration. nullopt if no number can be shown. Places are read as sums of
/// indices times sizes: by rank, by an index that occurs alone, and as digits (`i * 4 + j` with j <
/// 4). Cost: indices^2 times dimensions.
std::optional<std::size_t> tell_apart(const std::vector<Block>& blocks,
                                      const std::vector<Dimension>& range);

/// Two iterations, each by its indices.
struct Iterations {
  std::vector<std::int64_t> one, other;
};
/// Two early iterations with the same part; nullopt if none are found.
std::optional<Iterations> with_same_part(const std::vector<Block>& blocks,
                                         const std::vector<Dimension>& range);

}  // namespace twill::tasks
