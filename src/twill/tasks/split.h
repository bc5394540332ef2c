#pragma once

#include <string>
#include <vector>

#include "twill/tasks/values.h"

/// Inner variants given by the sizes that they cut.
namespace twill::tasks {

/// A size of a signature, with its cut.
struct Split {
  std::string size;
  Size by;            ///< elements of a part, or number of parts; a name is a tunable
  bool into = false;  ///< `by` is the number of parts, which must divide the size
  Where where;
};

/// Makes the variant that launches its own task on parts: a prange with an index for each split.
/// Every argument with one of the sizes is in blocks; all others are whole. Fails for sizes that no
/// argument has, or that are split twice (T02). Fails for tasks with positions (T01), since
/// positions may depend on the part.
Result<Inner> split_into(const TaskValue& task, const std::vector<Split>& splits,
                         const Where& where);

}  // namespace twill::tasks
