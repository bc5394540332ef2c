#pragma once

#include <map>

#include "twill/run/kernel.h"

namespace twill::run {

/// The precision that numbers have where the printed kernel may round otherwise than its text: the
/// fewest bits behind the point to which such a number is rounded on its way.
inline constexpr int kExact = 99;  ///< no other rounding: every bit is the same

/// The precision of what the kernel writes into each array, by the argument's name. A difference
/// that arises in f32 stays one of f32, whatever types the kernel has elsewhere, until it is rounded
/// to a narrower type: then neighbours there may differ. Arrays that are not written have none.
/// Cost: linear in the function's ops for each time that a loop lowers one of them.
std::map<std::string, int> precisions(const Kernel& kernel);

}  // namespace twill::run
