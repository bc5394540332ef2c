#pragma once

#include "twill/tasks/instantiate.h"

namespace twill::tasks {

/// Follows the zeros that blocks have beyond the edge of their tensor through all tasks. Fails
/// (T12) if they reach a largest element of rows, or a sum that they would change. So do values
/// computed from them: `exp(0)` is not zero. Sizes in the mapping may show that there is no edge.
/// Precondition: check(*tree.library). Cost: at most some ten thousand launches; of larger trees
/// only the first are followed.
Result<void> check_edges(const Tree& tree);

}  // namespace twill::tasks
