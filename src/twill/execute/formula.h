#pragma once

#include <span>

#include "twill/ir/user_function.h"

/// Internal to the room: what functions of the user's mean.
namespace twill::execute {

/// The formula's number, of which each step is rounded to f32. Precondition: `operands` are as many
/// as it was read with.
float run(const ir::Formula& formula, std::span<const float> operands);

}  // namespace twill::execute
