#include "twill/execute/integers.h"

#include <algorithm>

#include "twill/execute/by_kind.h"

namespace twill::execute {
namespace {

using ir::OpKind;
using Wide = std::int64_t;
using Unsigned = std::uint64_t;

/// Adds; sums and products wrap as unsigned integers do.
Wide sum(Wide a, Wide b, int) {
  return static_cast<Wide>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}
Wide difference(Wide a, Wide b, int) {
  return static_cast<Wide>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}
Wide product(Wide a, Wide b, int) {
  return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}
/// Divides; division by -1 wraps, division by zero is refused earlier.
Wide quotient(Wide a, Wide b, int bits) { return b == -1 ? difference(0, a, bits) : a / b; }
Wide remainder(Wide a, Wide b, int) { return b == -1 ? 0 : a % b; }
Wide quotient_down(Wide a, Wide b, int bits) {
  const Wide rest = remainder(a, b, bits);
  return quotient(a, b, bits) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}
Wide quotient_up(Wide a, Wide b, int bits) {
  const Wide rest = remainder(a, b, bits);
  return quotient(a, b, bits) + (rest != 0 && (rest < 0) == (b < 0) ? 1 : 0);
}
Wide shift_left(Wide a, Wide b, int bits) {
  return b < 0 || b >= bits ? 0 : static_cast<Wide>(static_cast<Unsigned>(a) << b);
}
Wide shift_right(Wide a, Wide b, int bits) {
  return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b;
}

template <class Operation>
Wide on_unsigned(Wide a, Wide b, int bits, Operation operation) {
  return static_cast<Wide>(operation(as_unsigned(a, bits), as_unsigned(b, bits)));
}

/// Upper 64 bits of a product, computed by halves of 32 bits.
Unsigned high_half(Unsigned x, Unsigned y) {
  constexpr Unsigned kLow = 0xffffffffU;
  const Unsigned low = (x & kLow) * (y & kLow);
  const Unsigned left = (x >> 32U) * (y & kLow) + (low >> 32U);
  const Unsigned right = (x & kLow) * (y >> 32U) + (left & kLow);
  return (x >> 32U) * (y >> 32U) + (left >> 32U) + (right >> 32U);
}

const ByKind<Integral>& table() {
  static const ByKind<Integral> kTable = {
      {OpKind::add, sum},
      {OpKind::sub, difference},
      {OpKind::mul, product},
      {OpKind::sdiv, quotient},
      {OpKind::srem, remainder},
      {OpKind::sdiv_down, quotient_down},
      {OpKind::sdiv_up, quotient_up},
      {OpKind::shl, shift_left},
      {OpKind::ashr, shift_right},
      {OpKind::bit_and, [](Wide a, Wide b, int) { return a & b; }},
      {OpKind::bit_or, [](Wide a, Wide b, int) { return a | b; }},
      {OpKind::bit_xor, [](Wide a, Wide b, int) { return a ^ b; }},
      {OpKind::smin, [](Wide a, Wide b, int) { return std::min(a, b); }},
      {OpKind::smax, [](Wide a, Wide b, int) { return std::max(a, b); }},
      {OpKind::udiv,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits, [](Unsigned x, Unsigned y) { return x / y; });
       }},
      {OpKind::udiv_up,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits,
                            [](Unsigned x, Unsigned y) { return x / y + (x % y == 0 ? 0U : 1U); });
       }},
      {OpKind::urem,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits, [](Unsigned x, Unsigned y) { return x % y; });
       }},
      {OpKind::lshr,
       [](Wide a, Wide b, int bits) {
         if (b < 0 || b >= bits) return Wide{0};
         return on_unsigned(a, b, bits, [](Unsigned x, Unsigned y) { return x >> y; });
       }},
      {OpKind::umin,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits, [](Unsigned x, Unsigned y) { return std::min(x, y); });
       }},
      {OpKind::umax,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits, [](Unsigned x, Unsigned y) { return std::max(x, y); });
       }},
      {OpKind::umul_high,
       [](Wide a, Wide b, int bits) {
         return on_unsigned(a, b, bits, [bits](Unsigned x, Unsigned y) {
           return bits <= 32 ? (x * y) >> static_cast<unsigned>(bits) : high_half(x, y);
         });
       }},
  };
  return kTable;
}

}  // namespace

Integral integral(OpKind kind) { return table()[kind]; }

bool divides(OpKind kind) {
  switch (kind) {
    case OpKind::sdiv:
    case OpKind::udiv:
    case OpKind::srem:
    case OpKind::urem:
    case OpKind::sdiv_up:
    case OpKind::udiv_up:
    case OpKind::sdiv_down:
      return true;
    default:
      return false;
  }
}

bool compares(std::int64_t predicate, std::int64_t a, std::int64_t b, int bits) {
  const Unsigned x = as_unsigned(a, bits), y = as_unsigned(b, bits);
  switch (predicate) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    case 5:
      return a >= b;
    case 6:
      return x < y;
    case 7:
      return x <= y;
    case 8:
      return x > y;
    default:
      return x >= y;
  }
}

std::uint64_t as_unsigned(std::int64_t value, int bits) {
  const auto all = static_cast<Unsigned>(value);
  return bits >= 64 ? all : all & ((Unsigned{1} << static_cast<unsigned>(bits)) - 1);
}

std::int64_t wrapped(std::int64_t value, int bits) {
  if (bits >= 64 || bits <= 0) return value;
  if (bits == 1) return value & 1;
  const auto up = static_cast<unsigned>(64 - bits);
  return static_cast<Wide>(static_cast<Unsigned>(value) << up) >> up;
}

}  // namespace twill::execute
