#pragma once

#include "twill/ir/program.h"

/// Internal to the room: how stores and updates change an element.
namespace twill::execute {

/// Function that combines the old value of an element and the new one.
using Combine = double (*)(double, double);
double take_new(double old, double value);
double exchange(double old, double value);  ///< the caller returns the old value as the op's result

/// Combining function of an op that writes; null for an unknown op.
Combine combination(const ir::Program& program, const ir::Op& op);

}  // namespace twill::execute
