#pragma once

#include <cstdint>

namespace twill::execute {

/// Number of iterations from `lower` to below `upper`. Safe for all bounds: the distance of two
/// 64-bit integers fits an unsigned one. Precondition: `step` is above zero.
constexpr std::uint64_t trips_of(std::int64_t lower, std::int64_t upper, std::int64_t step) {
  if (upper <= lower) return 0;
  const std::uint64_t distance =
      static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  return (distance - 1) / static_cast<std::uint64_t>(step) + 1;
}

/// Induction variable in iteration `trip`. Precondition: the loop has that iteration.
constexpr std::int64_t in_trip(std::int64_t lower, std::uint64_t trip, std::int64_t step) {
  const std::uint64_t passed = trip * static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(lower) + passed);
}

}  // namespace twill::execute
