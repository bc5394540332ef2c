#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/plan/proof/run.h"

/// Internal to the proof: all accesses to each slot of each buffer, and their order.
namespace twill::plan::proof {

/// One use of a slot of a buffer. `value`, `iteration`: the value that is written or read.
struct Access {
  OpId op;              ///< the op that makes the access
  std::int64_t at = 0;  ///< iteration of that op
  OpId value;
  std::int64_t iteration = 0;
  const Execution* when = nullptr;
  bool staging = false;  ///< whether it is the copy into a staging buffer instead of the op itself
  std::optional<std::size_t> write = std::nullopt;  ///< for a read: the slot's write that it reads
};

struct Slot {
  std::vector<Access> writes;  // by position
  std::vector<Access> reads;
};

/// Allocated memory, without contents, that one check leaves to the next.
struct DataMemory {
  std::vector<std::vector<Slot>> slots;  ///< by BufferId, then slot
  std::vector<std::size_t> write_of;     ///< by op and iteration: place in the slot's writes
};

void check_data(const Run& run, DataMemory& memory, Findings& findings);

/// Lays out one run, in which the counters of the channels run on from tile to tile, and checks
/// every rule on it. Returns the number of its events. Precondition: the plan is well-formed.
std::int64_t check_run(Run& run, DataMemory& memory, const TileTrips& tiles, Findings& findings);

}  // namespace twill::plan::proof
