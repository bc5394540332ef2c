#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/user_function.h"
#include "twill/tasks/values.h"

namespace twill::tasks {

/// Evaluates a leaf: a tile for each output. Arithmetic as in `execute`: each result rounded to its
/// type, sums of products in f32, k ascending. `inputs`: tiles of the arguments and positions that
/// are read, by name. `shapes`: shapes of all arguments. `sizes`: values of the signature's names.
/// Precondition: types_of(task, leaf) succeeds, and the inputs have these shapes.
std::vector<execute::Tile> evaluate(const TaskValue& task, const Leaf& leaf,
                                    const std::map<std::string, execute::Tile>& inputs,
                                    const std::map<std::string, execute::Shape>& shapes,
                                    const std::map<std::string, std::int64_t>& sizes);
/// Tile of a position in a leaf. Exact up to 2^24.
execute::Tile position_tile(std::int64_t position);

/// Combines two tiles of that type by add, max or min, element by element.
execute::Tile combined(Function by, Scalar scalar, const execute::Tile& a, const execute::Tile& b);

/// Word of formulas with the same arithmetic. Precondition: is_elementwise(function).
ir::FormulaWord word_of(Function function);

/// Rounds `number` to an element of that type.
float rounded(Scalar scalar, double number);

}  // namespace twill::tasks
