#pragma once

#include <cstdint>
#include <optional>

#include "twill/execute/memory.h"

namespace twill::execute {

/// Whether two elements are equal to the last bit, or both NaN of any kind.
bool same_element(double a, double b);

/// Difference of two runs of a kernel in one array.
struct Difference {
  std::int64_t written = 0;    ///< elements that either run wrote
  std::int64_t differing = 0;  ///< of these
  std::int64_t missing = 0;    ///< of the differing: written by one only, or a number in one only
  double largest = 0;          ///< absolute difference of two numbers
  std::optional<std::int64_t> first;  ///< index of the first that differs
};
Difference difference(const Memory::Written& expected, const Memory::Written& found);

}  // namespace twill::execute
