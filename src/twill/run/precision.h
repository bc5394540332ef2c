#pragma once

#include <map>

#include "twill/run/kernel.h"

namespace twill::run {

/// Precision of numbers that the printed kernel rounds exactly as the text does. Any smaller
/// precision is a number of bits behind the point.
inline constexpr int kExact = 99;  ///< every bit is the same

/// Precision of the numbers that a kernel writes into each array, by the argument's name. The
/// precision is the fewest bits to which a number is rounded once it may differ from the text's. A
/// difference that arises in f32 keeps that precision until a narrower type takes the number, whose
/// neighbours may then differ. Other types of the kernel have no effect.
/// Cost: linear in the function's ops for each time that a loop lowers one of them.
std::map<std::string, int> precisions(const Kernel& kernel);

}  // namespace twill::run
