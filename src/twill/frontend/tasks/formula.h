#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twill/tasks/leaf.h"

/// Meaning of the user's functions, as text of the module.
namespace twill::frontend::from_tasks {

/// The only result of the leaf, as an ir::Formula of the elements of `arguments`. Fails (T15) for a
/// formula with too many words.
Result<std::string> formula_of(const tasks::Leaf& leaf, const std::vector<tasks::NodeType>& types,
                               const std::vector<tasks::ElementArgument>& arguments);

/// A string of MLIR, without its quotes.
std::string escaped(std::string_view text);

}  // namespace twill::frontend::from_tasks
