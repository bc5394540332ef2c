#pragma once

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::extract {

/// True for an integer that counts iterations: the induction variable, or a carried value that
/// grows by an invariant (and may restart). True also for arithmetic on counters that takes each
/// value in few iterations only. Loaded values, bits of a counter, and remainders by a constant are
/// no counters. Cost: linear in the ops that make the value.
bool is_counter(const ir::Program& program, const ir::Loop& loop, ir::ValueId value);

}  // namespace twill::extract
