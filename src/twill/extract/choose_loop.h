#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::extract {

struct LoopChoice {
  ir::OpId loop;
  int number = 0;          ///< among all loops of the text, in its order, from 0
  std::int64_t flops = 0;  ///< tensor-core work of one iteration, 2 per multiply-add
};

/// All loops of the module in the order of the text. The work of a loop does not include inner
/// loops.
std::vector<LoopChoice> loops_of(const ir::Program& program);

/// The loop to schedule. `selector` may be empty: the innermost loop with the most tensor-core
/// work, the first among equals. Or a number in source order ("0"). Or a location: "FILE:LINE" of
/// the kernel's source where the text has locations, or ":LINE" of the text itself. Among several
/// loops there (a nest in one line), the first with tensor-core work. Fails if several CTAs share
/// the tiles, and if there is no loop, none with tensor-core work, or none at the place named; the
/// message lists the loops.
Result<LoopChoice> choose_loop(const ir::Program& program, std::string_view selector);

}  // namespace twill::extract
