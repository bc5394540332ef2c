#pragma once

#include <cstdint>
#include <optional>

#include "twill/execute/memory.h"

namespace twill::execute {

/// Whether two elements are the same: to the last bit, or neither is a number (which NaN is no
/// matter).
bool same_element(double a, double b);

/// How two runs of a kernel differ in one array.
struct Difference {
  std::int64_t written = 0;    ///< elements that either wrote
  std::int64_t differing = 0;  ///< of these
  std::int64_t missing = 0;    ///< of the differing: written by one only, or a number in one only
  double largest = 0;          ///< absolute difference of two numbers
  std::optional<std::int64_t> first;  ///< index of the first that differs
};
Difference difference(const Memory::Written& expected, const Memory::Written& found);

}  // namespace twill::execute
