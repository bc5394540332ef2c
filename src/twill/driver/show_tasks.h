#pragma once

#include <string>

#include "twill/support/diagnostic.h"

namespace twill::driver {

/// Views of a `.task` file.
enum class TasksView {
  text,        ///< the tasks as they are printed again
  mapping,     ///< the mapping with all that was derived, as a `.map` text
  tree,        ///< its instances, as a tree
  partitions,  ///< parts into which tensors are cut, with the known facts about them
  variants,    ///< each run with the meaning of its task
  flow,        ///< copies, calls and events, after each pass over them
  kernel,      ///< the TTGIR that the rest of Twill takes
};

/// `map`: as in InputChoice, `machine`: as in Request. Fails for a file that cannot be read, or is
/// wrong. A `.map` file by itself can be shown as text.
Result<std::string> show_tasks(const std::string& path, TasksView view, const std::string& map,
                               const std::string& machine);

}  // namespace twill::driver
