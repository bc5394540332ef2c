#pragma once

#include <cstdint>
#include <optional>

#include "twill/execute/memory.h"

namespace twill::execute {

/// Whether two elements are equal to the last bit, or both NaN of any kind.
bool same_element(double a, double b);

/// Calls visit(index, a, b) for each element of either side, in order; null if one side lacks the
/// element.
template <class Visit>
void for_each_written(const Memory::Written& first, const Memory::Written& second, Visit visit) {
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() || b != second.end()) {
    const bool from_a = b == second.end() || (a != first.end() && a->first <= b->first);
    const bool from_b = a == first.end() || (b != second.end() && b->first <= a->first);
    visit(from_a ? a->first : b->first, from_a ? &a->second : nullptr,
          from_b ? &b->second : nullptr);
    if (from_a) ++a;
    if (from_b) ++b;
  }
}

/// Difference of two runs of a kernel in one array.
struct Difference {
  std::int64_t written = 0;    ///< elements that either run wrote
  std::int64_t differing = 0;  ///< of the written elements
  std::int64_t missing =
      0;               ///< of the differing: written by one run only, or a number in one run only
  double largest = 0;  ///< absolute difference of two numbers
  std::optional<std::int64_t> first;  ///< index of the first differing element
};
Difference difference(const Memory::Written& expected, const Memory::Written& found);

}  // namespace twill::execute
