#pragma once

#include <optional>

#include "twill/problem/transfer.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// Residual instance for the groups of a schedule: an instance in which every op exists. Without
/// transfer ops it is the instance itself.
class ResidualInstance {
 public:
  /// Precondition: `instance` outlives the object. Cost: that of an instance, if there are transfer
  /// ops.
  ResidualInstance(const Instance& instance, const schedule::Schedule& schedule);
  ResidualInstance(const ResidualInstance&) = delete;
  ResidualInstance& operator=(const ResidualInstance&) = delete;

  const Instance& instance() const { return own_ ? *own_ : whole_; }
  /// Removes from a schedule with these groups the transfer ops that do not exist; and the inverse.
  schedule::Schedule in_residual(const schedule::Schedule& schedule) const;
  schedule::Schedule completed(const schedule::Schedule& schedule) const;

 private:
  const Instance& whole_;
  std::optional<problem::Residual> residual_;
  std::optional<Instance> own_;
};

}  // namespace twill::solve
