#pragma once

#include <string>
#include <vector>

#include "twill/tasks/values.h"

/// Inner variants that say no more than which sizes are cut.
namespace twill::tasks {

/// A size of a signature, and how it is cut.
struct Split {
  std::string size;
  Size by;            ///< elements of a part, or the number of parts; a name is a tunable
  bool into = false;  ///< `by` is the number of parts, which divides the size
  Where where;
};

/// The variant that launches its own task on parts: a prange with an index for each split. Every
/// argument that has one of the sizes is in blocks, and all others are whole. Fails for sizes that
/// no argument has or that are split twice (T02). Fails for tasks with positions (T01), since these
/// may depend on the part.
Result<Inner> split_into(const TaskValue& task, const std::vector<Split>& splits,
                         const Where& where);

}  // namespace twill::tasks
