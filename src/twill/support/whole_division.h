#pragma once

#include "twill/support/id.h"

/// Division of whole numbers of any sign, as times before iteration 0 need it.
/// Precondition of all: `divisor` is above zero.
namespace twill {

/// The quotient, rounded down.
constexpr Cycles floor_divide(Cycles dividend, Cycles divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/// The quotient, rounded up.
constexpr Cycles ceil_divide(Cycles dividend, Cycles divisor) {
  return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
}

/// The remainder, from 0 to divisor - 1.
constexpr Cycles modulo(Cycles dividend, Cycles divisor) {
  return dividend % divisor + (dividend % divisor < 0 ? divisor : 0);
}

}  // namespace twill
