#include "twill/execute/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace twill::execute {
namespace {

void count(Difference& difference, std::int64_t index, const double* a, const double* b) {
  ++difference.written;
  const bool both = a != nullptr && b != nullptr;
  if (both && same_element(*a, *b)) return;
  ++difference.differing;
  if (!both || std::isnan(*a) || std::isnan(*b)) {
    ++difference.missing;
  } else {
    difference.largest = std::max(difference.largest, std::abs(*a - *b));
  }
  if (!difference.first) difference.first = index;
}

}  // namespace

bool same_element(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

Difference difference(const Memory::Written& expected, const Memory::Written& found) {
  Difference all;
  for_each_written(expected, found, [&](std::int64_t index, const double* a, const double* b) {
    count(all, index, a, b);
  });
  return all;
}

}  // namespace twill::execute
