#pragma once

#include <map>
#include <set>
#include <string>

#include "twill/tasks/mapping.h"

/// Levels of a machine, and the memories that each of them sees.
namespace twill::tasks {

/// Facts about a machine on which mappings depend. Without a name no machine is meant, and no level
/// is refused.
struct Levels {
  std::string machine;
  std::string target;                          ///< "sm_90"
  std::map<Processor, std::set<Memory>> seen;  ///< for each level of the machine
};

/// Fails (M05) if the machine lacks the level. `what`: "TASK.VARIANT".
Result<void> check_level(const Levels& levels, Processor level, const std::string& what,
                         const Where& where);
/// Fails (M06) if the level does not see the memory of the argument.
Result<void> check_seen(const Levels& levels, Processor level, const Placed& placed);

}  // namespace twill::tasks
