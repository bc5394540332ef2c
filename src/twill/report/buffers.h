#pragma once

#include <optional>
#include <vector>

#include "twill/schedule/analysis.h"

namespace twill::report {

/// A buffer as it will be allocated: of streaming values, the whole ring.
struct Buffer {
  problem::OpId value;
  problem::MemoryId memory;
  Amount amount = 0;  ///< of one copy
  Cycles depth = 0;   ///< copies
  std::optional<schedule::Ring> ring;
};

/// The schedule's buffers, rings at the depth that hides their loads.
std::vector<Buffer> allocated_buffers(const problem::Problem& problem,
                                      const schedule::Schedule& schedule);

}  // namespace twill::report
