#pragma once

#include <span>

#include "twill/ir/user_function.h"

/// Arithmetic of formulas: the meaning of the user's functions and of leaves of tasks.
namespace twill::execute {

/// Result of a word on its numbers; a, b and c in the order of the stack. Precondition: the word
/// takes numbers.
float applied(ir::FormulaWord word, float a, float b, float c);

/// Evaluates the formula; each step is rounded to f32. Precondition: `operands` has the number of
/// operands with which the formula was read.
float run(const ir::Formula& formula, std::span<const float> operands);

}  // namespace twill::execute
