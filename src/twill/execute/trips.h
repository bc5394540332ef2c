#pragma once

#include <cstdint>

namespace twill::execute {

/// How often a loop from `lower` to below `upper` runs. Safe for all bounds, as the distance of two
/// integers of 64 bits needs all bits of an unsigned one. Precondition: `step` is above zero.
constexpr std::uint64_t trips_of(std::int64_t lower, std::int64_t upper, std::int64_t step) {
  if (upper <= lower) return 0;
  const std::uint64_t distance =
      static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  return (distance - 1) / static_cast<std::uint64_t>(step) + 1;
}

/// The induction variable in iteration `trip`, one that the loop has.
constexpr std::int64_t in_trip(std::int64_t lower, std::uint64_t trip, std::int64_t step) {
  const std::uint64_t passed = trip * static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(lower) + passed);
}

}  // namespace twill::execute
