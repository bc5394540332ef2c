#include "twill/driver/levels.h"

#include "twill/driver/driver.h"

namespace twill::driver {
namespace {

/// Leaves out levels and memories for which mappings have no word.
tasks::Levels levels_of(const machine::Machine& machine) {
  tasks::Levels levels{machine->name, machine->target, {}};
  for (const machine::Processor& level : machine->processors) {
    const auto processor = tasks::processor_named(level.name);
    if (!processor) continue;
    auto& seen = levels.seen[*processor];
    for (const std::string& name : level.sees) {
      if (const auto memory = tasks::memory_named(name)) seen.insert(*memory);
    }
  }
  return levels;
}

}  // namespace

Result<tasks::Levels> levels_for(const std::string& machine, const tasks::Mapping& mapping) {
  const bool is_mapped = machine.empty() && !mapping.machine.empty();
  const std::string name = is_mapped ? mapping.machine : machine.empty() ? kHopper : machine;
  const auto found = find_machine(name);
  if (found) return levels_of(*found);
  if (!is_mapped) return tl::unexpected(found.error());
  return tasks::fail_task("M15", mapping.where, found.error().message, found.error().hint);
}

}  // namespace twill::driver
