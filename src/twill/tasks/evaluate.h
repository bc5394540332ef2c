#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/values.h"

namespace twill::tasks {

/// Evaluates a leaf: a tile for each output. Arithmetic as `execute` has it: each
/// result rounded to its type, sums of products in f32, k ascending. `inputs`: the tiles of the
/// arguments that are read, by name; `shapes`: of all arguments.
/// Precondition: types_of(task, leaf), and inputs whose shapes fit it.
std::vector<execute::Tile> evaluate(const TaskValue& task, const Leaf& leaf,
                                    const std::map<std::string, execute::Tile>& inputs,
                                    const std::map<std::string, execute::Shape>& shapes);

/// `number` as an element of that type.
float rounded(Scalar scalar, double number);

}  // namespace twill::tasks
