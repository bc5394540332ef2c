#pragma once

#include <set>
#include <utility>
#include <vector>

#include "twill/emit/cuda/registers.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// Row sums that a role of the plan keeps in parts. The four threads of a quad hold a row, and each
/// adds up its own columns; one thread also has the initial value. Shuffles after the loop add up
/// the four parts.
class PartialSums {
 public:
  /// Fails if the plan belongs to another kernel, or a sum is no vector of rows.
  static Result<PartialSums> of(const View& view, plan::RoleId role, const Registers& registers);

  /// Whether this reduction, done by `op`, leaves each thread with its own part of the sum.
  bool leaves_parts(OpId op, ir::OpId reduction) const {
    return reductions_.contains({op, reduction});
  }
  /// Prints, after the initial values: all but one thread of a quad begin with 0.
  void begin(Text& text) const;
  /// Prints, after the loop: the sum of the parts.
  void complete(Text& text) const;

 private:
  std::set<std::pair<OpId, ir::OpId>> reductions_;
  std::vector<const Variable*> sums_;
};

}  // namespace twill::emit::cuda
