#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/explored_memory.h"

/// Internal to the explorer: everything that changes while a plan runs.
namespace twill::plan::testing {

/// Asynchronous work under way.
struct Flight {
  OpId op;
  std::int64_t iteration = 0;
  unsigned started = 0;  ///< warps that have issued it, a bit each
  std::size_t from = 0;  ///< CTA that does it
  std::size_t to = 0;    ///< CTA where it ends
  auto operator<=>(const Flight&) const = default;
};

/// An arrival that comes with the end of tcgen05 work.
struct Pending {
  std::size_t after = 0;  ///< tcgen05 ops of the role that must be done
  std::size_t barrier = 0;
  std::size_t cta = 0;  ///< CTA of the barrier
  auto operator<=>(const Pending&) const = default;
};

struct CountingBarrier {
  std::int64_t phase = 0;  ///< the open phase
  std::int64_t pending = 0;
  Amount bytes = 0;
};

struct State {
  std::vector<std::size_t> at;    // by warp
  std::vector<std::int64_t> met;  // by warp: phase of the named barrier it arrived at
  std::vector<CountingBarrier> barriers;
  std::vector<std::vector<Flight>> queues;  // crew x {wgmma, tcgen05, bulk}, oldest first
  std::vector<std::size_t> ended;           // crew x queue: ops that are done
  std::vector<Flight> loads;
  std::vector<std::vector<Pending>> pending;  // by crew
  std::vector<std::vector<Cell>> cells;       // by CTA
  // By CTA, op and iteration, a bit for each warp. Both follow from the rest, so `key` leaves them
  // out.
  std::vector<std::uint8_t> begun, done;

  /// Key that is equal for states with the same behaviour.
  std::string key() const;
};

}  // namespace twill::plan::testing
