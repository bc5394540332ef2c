#pragma once

#include "twill/tasks/instantiate.h"

namespace twill::tasks {

/// Checks divisions of which the tree has both numbers: quotients in sizes, and blocks with the
/// edge `exact`. Numbers are tunables, and sizes that the mapping fixes. Fails with T11.
Result<void> check_divisions(const Tree& tree);

}  // namespace twill::tasks
