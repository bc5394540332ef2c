#pragma once

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::extract {

/// True for an integer that the loop counts: its induction variable, a carried value that goes on
/// by something invariant (and may begin anew), and arithmetic by which such a value has one number
/// in few iterations. What is loaded, a bit of a counter, or its rest by a constant is none.
/// Cost: linear in the ops that make it.
bool is_counter(const ir::Program& program, const ir::Loop& loop, ir::ValueId value);

}  // namespace twill::extract
