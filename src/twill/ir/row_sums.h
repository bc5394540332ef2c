#pragma once

#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::ir {

/// A vector of f32 that a loop carries as sum := sum * factor + (sum of a tile's columns), or
/// without the factor: the denominator of a softmax, the sums of an operand's rows.
///
/// In the loop nobody else reads the sum, nor what is added to it, and the factor, a vector like
/// it, has nothing to do with either. So the loop is linear in it: whoever splits the columns among
/// several threads, and the initial value with them, may let each scale and add up its own share
/// and add up the shares after the loop. Only the order of additions is another.
struct RowSum {
  OpId reduction;         ///< over the columns, by addition
  OpId addition;          ///< makes the sum that the loop yields: fadd or fma
  std::vector<OpId> ops;  ///< both, and what scales the sum
};

/// All of them, in the order in which the loop carries them. Cost: about linear in their uses.
std::vector<RowSum> row_sums(const Program& program, const Loop& loop);

}  // namespace twill::ir
