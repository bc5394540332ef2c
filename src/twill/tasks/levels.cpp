#include "twill/tasks/levels.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace twill::tasks {

Result<void> check_level(const Levels& levels, Processor level, const std::string& what,
                         const Where& where) {
  if (levels.machine.empty() || levels.seen.count(level) > 0) return {};
  return fail_task("M05", where,
                   fmt::format("'{}' is at {}, a level that {} does not have", what, name_of(level),
                               levels.machine),
                   "`twill tasks --tree` prints the levels that are taken");
}

Result<void> check_seen(const Levels& levels, Processor level, const Placed& placed) {
  if (levels.machine.empty() || placed.memory == Memory::none) return {};
  std::vector<std::string_view> seen_by;
  for (const auto& [other, memories] : levels.seen) {
    if (memories.count(placed.memory) == 0) continue;
    if (other == level) return {};
    seen_by.push_back(name_of(other));
  }
  return fail_task(
      "M06", placed.where,
      fmt::format("'{}' lies in the memory '{}', which a {} of {} does not see", placed.argument,
                  name_of(placed.memory), name_of(level), levels.machine),
      seen_by.empty() ? "" : fmt::format("it is seen by: {}", fmt::join(seen_by, ", ")));
}

}  // namespace twill::tasks
