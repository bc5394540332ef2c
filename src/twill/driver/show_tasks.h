#pragma once

#include <string>

#include "twill/support/diagnostic.h"

namespace twill::driver {

/// Views of a `.task` file.
enum class TasksView {
  text,    ///< the tasks as they are printed again
  tree,    ///< the instances of the mapping, with what was derived
  flow,    ///< copies, calls and events, after each pass over them
  kernel,  ///< the TTGIR that the rest of Twill takes
};

/// Fails for a file that cannot be read, or is wrong.
Result<std::string> show_tasks(const std::string& path, TasksView view, const std::string& mapping);

}  // namespace twill::driver
