#pragma once

#include "twill/tasks/cursor.h"
#include "twill/tasks/mapping.h"

/// Internal to the text form: the parts of a text, each from behind its first word on.
namespace twill::tasks {

/// `{ C += mma(A, B) }`
Result<Leaf> read_leaf(Cursor& cursor, const TaskValue& task);

/// `NAME for TASK on MACHINE { ... }`
Result<Mapping> read_mapping(Cursor& cursor);

}  // namespace twill::tasks
