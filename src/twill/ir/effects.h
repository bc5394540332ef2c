#pragma once

#include "twill/ir/program.h"

/// Effects of ops besides their results.
namespace twill::ir {

enum class Effect : unsigned char {
  none,     ///< results only: without a reader of them, the op may be left out
  writes,   ///< memory, at the places that its operands say
  orders,   ///< nothing that accesses memory may be moved from one side of the op to the other
  unknown,  ///< may do anything
  remark,   ///< visible to people only
};

/// Effect of an op besides its results. Ops of unknown kind without results have an unknown effect,
/// since some effect must be their purpose. Ops that order: calls, inline assembly that is not
/// pure, volatile loads, and atomic operations that acquire, release or compare.
Effect effect_of(const Op& op);

/// Whether an op does something that others can see; of a copy the end is not known, so it does.
bool is_effect(const Program& program, OpId op);
/// Whether an op only computes, so that it may be done again wherever its results are needed.
bool is_pure(const Program& program, OpId op);
/// Whether an op, with all in its regions, only computes and reads global memory.
bool only_reads(const Program& program, OpId op);

}  // namespace twill::ir
