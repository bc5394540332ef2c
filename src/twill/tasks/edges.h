#pragma once

#include "twill/tasks/instantiate.h"

namespace twill::tasks {

/// Follows the zeros beyond the edges of blocks through all tasks. Fails (T12) if zeros reach a
/// maximum over rows, or change a sum. Values computed from zeros count as well: `exp(0)` is not
/// zero. Sizes in the mapping may show that a block has no edge. Precondition:
/// check(*tree.library). Cost: at most some ten thousand launches; in larger trees, only the first
/// launches are followed.
Result<void> check_edges(const Tree& tree);

}  // namespace twill::tasks
