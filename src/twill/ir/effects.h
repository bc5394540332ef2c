#pragma once

#include "twill/ir/program.h"

/// Effects of ops besides their results.
namespace twill::ir {

enum class Effect : unsigned char {
  none,     ///< results only: an op without readers may be left out
  writes,   ///< writes memory at the places that its operands give
  orders,   ///< orders memory accesses: no access may move across the op
  unknown,  ///< may do anything
  remark,   ///< visible to people only
};

/// Effect of an op besides its results. Ops of unknown kind without results have an unknown effect,
/// since some effect must be their purpose. Ops that order: calls, inline assembly that is not
/// pure, volatile loads, and atomic operations that acquire, release or compare.
Effect effect_of(const Op& op);

/// Whether an op has an effect visible outside. A copy counts, since the reader of its target is
/// unknown here.
bool is_effect(const Program& program, OpId op);
/// Whether an op only computes, so that it may be repeated wherever its results are needed.
bool is_pure(const Program& program, OpId op);
/// Whether an op and all ops in its regions only compute or read global memory.
bool only_reads(const Program& program, OpId op);

}  // namespace twill::ir
