#include "twill/report/buffers.h"

#include <algorithm>

namespace twill::report {

std::vector<Buffer> allocated_buffers(const Outcome& outcome) {
  const problem::Problem& problem = outcome.problem;
  const schedule::Schedule& schedule = *outcome.answer.schedule;
  const std::vector<schedule::Ring> rings =
      schedule::rings_of(problem, schedule, outcome.ring_depth);
  std::vector<Buffer> buffers;
  for (const schedule::Buffer& needed : schedule::buffers_of(problem, schedule)) {
    Buffer buffer{needed.value, needed.memory, needed.amount, needed.depth, {}};
    const auto ring = std::find_if(rings.begin(), rings.end(),
                                   [&](const schedule::Ring& r) { return r.op == needed.value; });
    if (ring != rings.end()) {
      buffer.ring = *ring;
      buffer.depth = std::max(buffer.depth, ring->depth);
    }
    buffers.push_back(buffer);
  }
  return buffers;
}

}  // namespace twill::report
