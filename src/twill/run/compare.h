#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/run/call.h"

namespace twill::run {

/// Allowed difference between the printed arithmetic and the text's. Where a kernel only multiplies
/// and adds in the text's order, every bit is equal. Another order of additions, or the hardware's
/// exponentials (docs/reference/cuda.md, "Numerics"), round otherwise, by units of the coarsest
/// type of its numbers.
struct Tolerance {
  bool exact = true;
  std::string type = "f32";  ///< the coarsest floating type of the kernel's numbers
  double unit = 0;           ///< 2^-11 for f16: half the distance of neighbours, relative
};
inline constexpr double kUnits = 8;  ///< that an element may be off, relative to the larger of
                                     ///< itself and the array's root mean square
Tolerance tolerance_of(const Kernel& kernel);

/// An array after the kernel, beside what the text makes of it.
struct Output {
  std::string name;
  std::int64_t written = 0;    ///< elements that the text writes
  std::int64_t rounded = 0;    ///< of these, other bits within the tolerance
  std::int64_t differing = 0;  ///< and those that are not
  std::int64_t stray = 0;      ///< elements that only the kernel changed
  double largest = 0;          ///< difference of two numbers
  double spread = 0;  ///< root mean square of the differences within the tolerance, relative to
                      ///< that of the array
  bool scattered = false;  ///< that is more than one unit: roundings would not add up so
  /// The first that differs.
  struct Example {
    std::int64_t index = 0;
    double expected = 0;
    double found = 0;
  };
  std::optional<Example> example;
};
bool agrees(const Output& output);

/// Every array that either of them writes. Precondition: the call left its memory.
std::vector<Output> compare(const Case& call, const Called& called, const Tolerance& tolerance);

/// The same of two memories with the same arrays, in which nothing lay but what they say.
std::vector<Output> compare(const execute::Memory& expected, const execute::Memory& found,
                            const Tolerance& tolerance);

}  // namespace twill::run
