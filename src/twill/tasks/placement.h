#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/tasks/levels.h"
#include "twill/tasks/mapping.h"

/// Memories and layouts of a variant's arguments: stated by its instance, or derived.
namespace twill::tasks {

/// A variant at a level. Without an instance, all choices are derived.
struct PlacedVariant {
  const TaskValue* task = nullptr;
  const Variant* variant = nullptr;
  const Instance* instance = nullptr;
  Processor processor = Processor::host;
};

/// Memory of each argument. `outside`: for each argument, whether it is part of the entry's
/// tensors. Fails (M06) for a memory in which kernels have no such tile, or that the level does not
/// see. Fails (M09) for right operands of products outside of shared memory.
Result<std::vector<Memory>> memories_of(const PlacedVariant& it, const std::vector<bool>& outside,
                                        const Levels& levels);

/// Layouts that the instance states, by argument. Fails for an argument that is no operand of a
/// product (M06), and for an unsuitable layout (M09).
Result<std::map<std::string, Swizzle>> swizzles_of(const PlacedVariant& it);

}  // namespace twill::tasks
