#pragma once

#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::ir {

/// A vector of f32 that a loop carries as sum := sum * factor + (sum of a tile's columns), perhaps
/// without the factor. Examples: the denominator of a softmax, the sums of an operand's rows.
///
/// No other op of the loop reads the sum or the addend. The factor, a vector of the same shape,
/// depends on neither. So the loop is linear in the sum: threads may share the columns and the
/// initial value. Each thread scales and adds its own share, and the shares are added after the
/// loop. Only the order of additions changes.
struct RowSum {
  OpId reduction;         ///< over the columns, by addition
  OpId addition;          ///< computes the sum that the loop yields: fadd or fma
  std::vector<OpId> ops;  ///< the reduction, the addition, and the op that scales the sum
};

/// All row sums of a loop, in the order in which the loop carries them. Cost: about linear in their
/// uses.
std::vector<RowSum> row_sums(const Program& program, const Loop& loop);

}  // namespace twill::ir
