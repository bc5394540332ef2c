#pragma once

#include <algorithm>
#include <cstdlib>

namespace twill::solve_test {

/// Number of rounds of a test with random problems: the usual number times TWILL_ROUNDS, if that is
/// set. The first rounds are the same, however many follow.
inline int rounds(int usual) {
  const char* const times = std::getenv("TWILL_ROUNDS");
  return usual * (times == nullptr ? 1 : std::max(1, std::atoi(times)));
}

}  // namespace twill::solve_test
