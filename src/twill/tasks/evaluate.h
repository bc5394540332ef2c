#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/user_function.h"
#include "twill/tasks/values.h"

namespace twill::tasks {

/// Evaluates a leaf: a tile for each output. Arithmetic as `execute` has it: each
/// result rounded to its type, sums of products in f32, k ascending. `inputs`: the tiles of the
/// arguments and positions that are read, by name; `shapes`: of all arguments; `sizes`: of the
/// names of the signature.
/// Precondition: types_of(task, leaf), and inputs whose shapes fit it.
std::vector<execute::Tile> evaluate(const TaskValue& task, const Leaf& leaf,
                                    const std::map<std::string, execute::Tile>& inputs,
                                    const std::map<std::string, execute::Shape>& shapes,
                                    const std::map<std::string, std::int64_t>& sizes);
/// A position as a leaf computes with it. Exact up to 2^24.
execute::Tile position_tile(std::int64_t position);

/// Two tiles of that type combined by add, max or min, element by element.
execute::Tile combined(Function by, Scalar scalar, const execute::Tile& a, const execute::Tile& b);

/// The same arithmetic as a word of formulas. Precondition: is_elementwise(function).
ir::FormulaWord word_of(Function function);

/// `number` as an element of that type.
float rounded(Scalar scalar, double number);

}  // namespace twill::tasks
