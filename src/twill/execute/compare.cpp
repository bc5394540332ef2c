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
  auto a = expected.begin();
  auto b = found.begin();
  while (a != expected.end() || b != found.end()) {
    const bool from_a = b == found.end() || (a != expected.end() && a->first <= b->first);
    const bool from_b = a == expected.end() || (b != found.end() && b->first <= a->first);
    count(all, from_a ? a->first : b->first, from_a ? &a->second : nullptr,
          from_b ? &b->second : nullptr);
    if (from_a) ++a;
    if (from_b) ++b;
  }
  return all;
}

}  // namespace twill::execute
