#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "twill/run/call.h"

namespace twill::run {

/// Allowed difference between the printed arithmetic and the text's, in one array. Where a kernel
/// only multiplies and adds in the text's order, every bit is equal. Another order of additions, or
/// the hardware's exponentials (docs/reference/cuda.md, "Numerics"), round otherwise. The unit
/// belongs to f32, or to the narrowest type to which a differing number is rounded before its
/// store.
struct Tolerance {
  bool exact = true;
  std::string type = "f32";
  double unit = 0;   ///< 2^-11 for f16: half the distance of neighbours, relative
  double units = 0;  ///< allowed difference of an element, relative to the larger of its size and
                     ///< the array's root mean square
};
/// Most units of difference. Different roundings of f32 add up over the loop. A number that is
/// rounded to a narrower type is at most a neighbour of the text's number.
inline constexpr double kUnitsOfF32 = 64;
inline constexpr double kUnitsOfNarrower = 8;

struct Tolerances {
  std::map<std::string, Tolerance> by_array;  ///< for the arrays that the kernel writes, by name
  bool exact() const;
  Tolerance of(const std::string& array) const;
};
Tolerances tolerances_of(const Kernel& kernel);

/// Comparison of an array after the kernel with the same array after the kernel's text.
struct Output {
  std::string name;
  std::int64_t written = 0;    ///< elements that the text writes
  std::int64_t rounded = 0;    ///< elements with other bits, within the tolerance
  std::int64_t differing = 0;  ///< elements beyond the tolerance
  std::int64_t stray = 0;      ///< elements that only the kernel changed
  double largest = 0;          ///< largest difference of two numbers
  double spread = 0;  ///< root mean square of the differences within the tolerance, relative to the
                      ///< array's root mean square
  bool scattered = false;  ///< `spread` is more than an eighth of the tolerance: more than
                           ///< roundings add up to
  Tolerance allowed;
  /// The first element that differs.
  struct Example {
    std::int64_t index = 0;
    double expected = 0;
    double found = 0;
  };
  std::optional<Example> example;
};
bool agrees(const Output& output);

/// Compares every array that the call or the text writes. Precondition: the call has memory.
std::vector<Output> compare(const Case& call, const Called& called, const Tolerances& tolerances);

/// Compares two memories with the same arrays and the same first contents.
std::vector<Output> compare(const execute::Memory& expected, const execute::Memory& found,
                            const Tolerances& tolerances);

}  // namespace twill::run
