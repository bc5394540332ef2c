#pragma once

#include <span>

#include "twill/ir/user_function.h"

/// Arithmetic of formulas, which functions of the user's and leaves of tasks mean.
namespace twill::execute {

/// Result of a word, of as many numbers as it takes. Precondition: a word that takes some.
float applied(ir::FormulaWord word, float a, float b, float c);

/// Evaluates the formula; each step is rounded to f32. Precondition: as many `operands` as the
/// formula was read with.
float run(const ir::Formula& formula, std::span<const float> operands);

}  // namespace twill::execute
