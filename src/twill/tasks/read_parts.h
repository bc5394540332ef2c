#pragma once

#include "twill/tasks/cursor.h"
#include "twill/tasks/mapping.h"

/// Internal to the text form: readers of parts of a text, each from after its first word on.
namespace twill::tasks {

/// Reads a leaf: `{ C += mma(A, B) }`.
Result<Leaf> read_leaf(Cursor& cursor, const TaskValue& task);

/// Reads a mapping: `NAME for TASK on MACHINE { ... }`.
Result<Mapping> read_mapping(Cursor& cursor);

}  // namespace twill::tasks
