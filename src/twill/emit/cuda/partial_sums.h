#pragma once

#include <set>
#include <vector>

#include "twill/emit/cuda/registers.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// Row sums that a loop only scales and adds to (the denominator of a softmax, the sums of an
/// operand's rows). The four threads of a quad that hold a row need not agree on them before the
/// loop is over: each keeps the sum over its own columns, one of them the initial value as well, and
/// the shuffles that add up the four are done once. The order of additions is ours to choose
/// (docs/reference/cuda.md, Numerics).
class PartialSums {
 public:
  /// Those of the role whose every operation is the role's own and handed to nobody.
  static PartialSums of(const View& view, plan::RoleId role, const Registers& registers);

  /// Whether this reduction leaves each thread with its own part of the sum.
  bool leaves_parts(ir::OpId reduction) const { return reductions_.contains(reduction); }
  /// After the initial values were set: all but one thread of a quad begin with 0.
  void begin(Text& text) const;
  /// After the loop: adds up the parts.
  void complete(Text& text) const;

 private:
  std::set<ir::OpId> reductions_;
  std::vector<const Variable*> sums_;
};

}  // namespace twill::emit::cuda
