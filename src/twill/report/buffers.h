#pragma once

#include <optional>
#include <vector>

#include "twill/report/outcome.h"
#include "twill/schedule/analysis.h"

namespace twill::report {

/// Buffer as it will be allocated; for streaming values, the whole ring.
struct Buffer {
  problem::OpId value;
  problem::MemoryId memory;
  Amount amount = 0;  ///< size of one copy
  Cycles depth = 0;   ///< copies
  std::optional<schedule::Ring> ring;
};

/// Buffers of the outcome's schedule. Rings have the depth that hides their loads, as far as
/// allowed.
std::vector<Buffer> allocated_buffers(const Outcome& outcome);

}  // namespace twill::report
