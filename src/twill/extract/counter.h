#pragma once

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::extract {

/// True for an integer that the loop counts: its induction variable, or a carried value that grows
/// by an invariant (and may begin anew). Also arithmetic on these that has one value in few
/// iterations only. Loaded values, bits of a counter, and rests by a constant are no counters.
/// Cost: linear in the ops that make it.
bool is_counter(const ir::Program& program, const ir::Loop& loop, ir::ValueId value);

}  // namespace twill::extract
