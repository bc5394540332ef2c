#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "twill/ir/program.h"
#include "twill/tasks/instantiate.h"

/// Statements of a mapping about its kernel: attributes of the module and of its loops.
namespace twill::frontend {

/// A number with its place in the mapping.
struct StatedNumber {
  std::int64_t value = 0;
  Location where;
};

struct Stated {
  std::string machine;                     ///< empty if no mapping says
  std::optional<StatedNumber> shared;      ///< most bytes of shared memory
  std::optional<StatedNumber> specialize;  ///< 0 or 1
  std::optional<StatedNumber> depth;       ///< copies of loads that run ahead
};

/// Statements of a mapping about the loop's kernel; empty in modules not made of tasks.
Stated stated_by_mapping(const ir::Program& program, ir::OpId loop);

}  // namespace twill::frontend

namespace twill::frontend::from_tasks {

/// Attributes of the module, each with ", " in front.
std::string stated_text(const tasks::Tree& tree, const std::string& file);
/// Attributes of a loop: " {...}", or empty.
std::string stated_text(const std::optional<tasks::Setting>& depth, const std::string& file);

}  // namespace twill::frontend::from_tasks
