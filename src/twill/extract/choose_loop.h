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

/// Chooses the loop to schedule. An empty `selector` means the innermost loop with the most
/// tensor-core work, the first among equals. Other forms: a number in source order ("0"), a
/// location "FILE:LINE" of the kernel's source if the text has locations, or ":LINE" of the text.
/// If several loops are at that location (a nest in one line), the first with tensor-core work is
/// taken. Fails if several CTAs share the tiles. Fails without a loop, without tensor-core work, or
/// without a loop at the location; the message lists the loops.
Result<LoopChoice> choose_loop(const ir::Program& program, std::string_view selector);

}  // namespace twill::extract
