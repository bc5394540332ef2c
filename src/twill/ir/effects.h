#pragma once

#include "twill/ir/program.h"

/// Effects of ops: what else they do than make their results.
namespace twill::ir {

enum class Effect : unsigned char {
  none,     ///< nothing else: where nobody reads the results, the op may be left out
  writes,   ///< memory, at the places that its operands say
  orders,   ///< nothing that accesses memory may be moved from one side of the op to the other
  unknown,  ///< may do anything
  remark,   ///< only people see it
};

/// Ops that Twill has never heard of have an unknown effect if they have no results: somebody wants
/// them done, and no more is known. Calls, inline assembly that is not pure, volatile loads,
/// atomic operations that acquire or release, and those that compare order, whatever else they do.
Effect effect_of(const Op& op);

}  // namespace twill::ir
