#pragma once

#include <map>

#include "twill/run/kernel.h"

namespace twill::run {

/// Precision of numbers that pass only through roundings which the printed kernel has, too: every
/// bit is the same. Other precisions are bits behind the point.
inline constexpr int kExact = 99;  ///< no other rounding: every bit is the same

/// Precision of the numbers that a kernel writes into each array, by the argument's name. It is the
/// fewest bits to which a number is rounded once it may differ from the text's. A difference that
/// arises in f32 stays one of f32 until a narrower type takes it, where neighbours may then differ.
/// Other types of the kernel do not matter.
/// Cost: linear in the function's ops for each time that a loop lowers one of them.
std::map<std::string, int> precisions(const Kernel& kernel);

}  // namespace twill::run
