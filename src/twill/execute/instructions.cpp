#include "twill/execute/instructions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "twill/execute/values.h"
#include "twill/ir/type.h"

namespace twill::execute {
namespace {

using Bits = std::uint32_t;

/// The nearest number of tf32, ten bits behind the point, ties away from zero.
float to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  constexpr std::uint32_t kLost = 13;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  bits += std::uint32_t{1} << (kLost - 1);
  return std::bit_cast<float>(bits >> kLost << kLost);
}

using Signed = std::int32_t;

float single_of(Bits bits) { return std::bit_cast<float>(bits); }
Bits raw(float number) { return std::bit_cast<Bits>(number); }
Signed signed_of(Bits bits) { return std::bit_cast<Signed>(bits); }
Bits raw(Signed integer) { return std::bit_cast<Bits>(integer); }

/// Combines the bits of a, b and c by the table `x[3]`: entry number 4a + 2b + c.
Bits look_up(const Bits* x) {
  Bits result = 0;
  for (Bits bit = 0; bit < 32; ++bit) {
    const Bits row = (x[0] >> bit & 1U) << 2U | (x[1] >> bit & 1U) << 1U | (x[2] >> bit & 1U);
    result |= (x[3] >> row & 1U) << bit;
  }
  return result;
}

/// Shifts. A shift by more than 31 leaves zero, or the sign in a signed shift to the right.
Bits shift_left(const Bits* x) { return x[1] > 31 ? 0 : x[0] << x[1]; }
Bits shift_right(const Bits* x) { return x[1] > 31 ? 0 : x[0] >> x[1]; }
Bits shift_right_signed(const Bits* x) { return raw(signed_of(x[0]) >> std::min<Bits>(x[1], 31)); }

/// Rounds towards zero; a number out of range becomes the nearest number in range, and NaN zero.
Bits to_integer(float x, double least, double most) {
  if (std::isnan(x)) return 0;
  const double whole = std::trunc(std::clamp(static_cast<double>(x), least, most));
  return static_cast<Bits>(static_cast<std::int64_t>(whole));
}

/// Types of both halves of a register.
struct Halves {
  ir::TypeNode type;
  explicit Halves(const char* name) {
    type.kind = ir::TypeKind::floating;
    type.name = name;
    type.bits = 16;
  }
  double low(Bits bits) const { return value_of(&type, bits & 0xffffU); }
  double high(Bits bits) const { return value_of(&type, bits >> 16U); }
  Bits joined(double low, double high) const {
    return static_cast<Bits>(bits_of(&type, low) | bits_of(&type, high) << 16U);
  }
};
const Halves& halves_of(bool brain) {
  static const Halves kHalf("f16"), kBrain("bf16");
  return brain ? kBrain : kHalf;
}

double sum(double a, double b) { return a + b; }
double difference(double a, double b) { return a - b; }
double product_of(double a, double b) { return a * b; }
double least_of(double a, double b) { return std::fmin(a, b); }
double most_of(double a, double b) { return std::fmax(a, b); }
double opposite(double a) { return -a; }
double magnitude(double a) { return std::fabs(a); }

template <bool brain, double (*function)(double)>
Bits on_halves(const Bits* x) {
  const Halves& halves = halves_of(brain);
  return halves.joined(function(halves.low(x[0])), function(halves.high(x[0])));
}
template <bool brain, double (*function)(double, double)>
Bits on_halves(const Bits* x) {
  const Halves& halves = halves_of(brain);
  return halves.joined(function(halves.low(x[0]), halves.low(x[1])),
                       function(halves.high(x[0]), halves.high(x[1])));
}
template <bool brain>
Bits add_product(const Bits* x) {
  const Halves& halves = halves_of(brain);
  return halves.joined(std::fma(halves.low(x[0]), halves.low(x[1]), halves.low(x[2])),
                       std::fma(halves.high(x[0]), halves.high(x[1]), halves.high(x[2])));
}
/// Packs two numbers; the first operand becomes the upper half.
template <bool brain>
Bits to_halves(const Bits* x) {
  return halves_of(brain).joined(static_cast<double>(single_of(x[1])),
                                 static_cast<double>(single_of(x[0])));
}

/// Selects bytes of two registers, each by four bits; the highest of these bits repeats the sign.
Bits permute(const Bits* x) {
  const std::uint64_t bytes = std::uint64_t{x[1]} << 32U | x[0];
  Bits result = 0;
  for (Bits i = 0; i < 4; ++i) {
    const Bits choice = x[2] >> (4 * i) & 0xfU;
    const auto byte = static_cast<Bits>(bytes >> (8 * (choice & 7U)) & 0xffU);
    const bool is_set = (byte & 0x80U) != 0;
    result |= ((choice & 8U) == 0 ? byte : is_set ? 0xffU : 0U) << (8 * i);
  }
  return result;
}

/// Mask of `length` bits from `first` on, cut off at the end of the register.
Bits bits_between(Bits first, Bits length) {
  const std::uint64_t mask = (std::uint64_t{1} << std::min<Bits>(length, 32)) - 1;
  return first > 31 ? 0 : static_cast<Bits>(mask << first);
}
/// Extracts bits; position and length are the low bytes of their registers.
Bits extract_bits(const Bits* x) {
  const Bits first = x[1] & 0xffU;
  return first > 31 ? 0 : (x[0] & bits_between(first, x[2] & 0xffU)) >> first;
}
Bits insert_bits(const Bits* x) {
  const Bits first = x[2] & 0xffU, mask = bits_between(first, x[3] & 0xffU);
  return first > 31 ? x[1] : (x[0] << first & mask) | (x[1] & ~mask);
}

constexpr std::array kKnown = {
    KnownInstruction{"mov.f32", 1, [](const Bits* x) { return x[0]; }},
    KnownInstruction{"cvt.tf32.f32", 1,
                     [](const Bits* x) { return raw(to_tf32(single_of(x[0]))); }},
    KnownInstruction{"add.f32", 2,
                     [](const Bits* x) { return raw(single_of(x[0]) + single_of(x[1])); }},
    KnownInstruction{"sub.f32", 2,
                     [](const Bits* x) { return raw(single_of(x[0]) - single_of(x[1])); }},
    KnownInstruction{"mul.f32", 2,
                     [](const Bits* x) { return raw(single_of(x[0]) * single_of(x[1])); }},
    KnownInstruction{"div.f32", 2,
                     [](const Bits* x) { return raw(single_of(x[0]) / single_of(x[1])); }},
    KnownInstruction{"fma.f32", 3,
                     [](const Bits* x) {
                       return raw(std::fma(single_of(x[0]), single_of(x[1]), single_of(x[2])));
                     }},
    KnownInstruction{
        "min.f32", 2,
        [](const Bits* x) { return raw(std::fmin(single_of(x[0]), single_of(x[1]))); }},
    KnownInstruction{
        "max.f32", 2,
        [](const Bits* x) { return raw(std::fmax(single_of(x[0]), single_of(x[1]))); }},
    KnownInstruction{"neg.f32", 1, [](const Bits* x) { return raw(-single_of(x[0])); }},
    KnownInstruction{"abs.f32", 1, [](const Bits* x) { return raw(std::fabs(single_of(x[0]))); }},
    KnownInstruction{"ex2.f32", 1, [](const Bits* x) { return raw(std::exp2(single_of(x[0]))); }},
    KnownInstruction{"lg2.f32", 1, [](const Bits* x) { return raw(std::log2(single_of(x[0]))); }},
    KnownInstruction{"rcp.f32", 1, [](const Bits* x) { return raw(1 / single_of(x[0])); }},
    KnownInstruction{"sqrt.f32", 1, [](const Bits* x) { return raw(std::sqrt(single_of(x[0]))); }},
    KnownInstruction{"rsqrt.f32", 1,
                     [](const Bits* x) { return raw(1 / std::sqrt(single_of(x[0]))); }},
    KnownInstruction{"sin.f32", 1, [](const Bits* x) { return raw(std::sin(single_of(x[0]))); }},
    KnownInstruction{"cos.f32", 1, [](const Bits* x) { return raw(std::cos(single_of(x[0]))); }},
    KnownInstruction{"tanh.f32", 1, [](const Bits* x) { return raw(std::tanh(single_of(x[0]))); }},
    KnownInstruction{"cvt.f32.s32", 1,
                     [](const Bits* x) { return raw(static_cast<float>(signed_of(x[0]))); }},
    KnownInstruction{"cvt.f32.u32", 1, [](const Bits* x) { return raw(static_cast<float>(x[0])); }},
    KnownInstruction{
        "cvt.rzi.s32.f32", 1,
        [](const Bits* x) { return to_integer(single_of(x[0]), -2147483648.0, 2147483647.0); }},
    KnownInstruction{"cvt.rzi.u32.f32", 1,
                     [](const Bits* x) { return to_integer(single_of(x[0]), 0, 4294967295.0); }},
    KnownInstruction{"mov.b32", 1, [](const Bits* x) { return x[0]; }},
    KnownInstruction{"add.b32", 2, [](const Bits* x) { return x[0] + x[1]; }},
    KnownInstruction{"sub.b32", 2, [](const Bits* x) { return x[0] - x[1]; }},
    KnownInstruction{"mul.lo.b32", 2, [](const Bits* x) { return x[0] * x[1]; }},
    KnownInstruction{"mad.lo.b32", 3, [](const Bits* x) { return x[0] * x[1] + x[2]; }},
    KnownInstruction{"neg.b32", 1, [](const Bits* x) { return 0 - x[0]; }},
    KnownInstruction{"and.b32", 2, [](const Bits* x) { return x[0] & x[1]; }},
    KnownInstruction{"or.b32", 2, [](const Bits* x) { return x[0] | x[1]; }},
    KnownInstruction{"xor.b32", 2, [](const Bits* x) { return x[0] ^ x[1]; }},
    KnownInstruction{"not.b32", 1, [](const Bits* x) { return ~x[0]; }},
    KnownInstruction{"lop3.b32", 4, look_up},
    KnownInstruction{"shl.b32", 2, shift_left},
    KnownInstruction{"shr.u32", 2, shift_right},
    KnownInstruction{"shr.b32", 2, shift_right},
    KnownInstruction{"shr.s32", 2, shift_right_signed},
    KnownInstruction{"min.s32", 2,
                     [](const Bits* x) { return raw(std::min(signed_of(x[0]), signed_of(x[1]))); }},
    KnownInstruction{"max.s32", 2,
                     [](const Bits* x) { return raw(std::max(signed_of(x[0]), signed_of(x[1]))); }},
    KnownInstruction{"min.u32", 2, [](const Bits* x) { return std::min(x[0], x[1]); }},
    KnownInstruction{"max.u32", 2, [](const Bits* x) { return std::max(x[0], x[1]); }},
    KnownInstruction{"popc.b32", 1,
                     [](const Bits* x) { return static_cast<Bits>(std::popcount(x[0])); }},
    KnownInstruction{"add.f16x2", 2, on_halves<false, sum>},
    KnownInstruction{"sub.f16x2", 2, on_halves<false, difference>},
    KnownInstruction{"mul.f16x2", 2, on_halves<false, product_of>},
    KnownInstruction{"fma.f16x2", 3, add_product<false>},
    KnownInstruction{"min.f16x2", 2, on_halves<false, least_of>},
    KnownInstruction{"max.f16x2", 2, on_halves<false, most_of>},
    KnownInstruction{"neg.f16x2", 1, on_halves<false, opposite>},
    KnownInstruction{"abs.f16x2", 1, on_halves<false, magnitude>},
    KnownInstruction{"cvt.f16x2.f32", 2, to_halves<false>},
    KnownInstruction{"add.bf16x2", 2, on_halves<true, sum>},
    KnownInstruction{"sub.bf16x2", 2, on_halves<true, difference>},
    KnownInstruction{"mul.bf16x2", 2, on_halves<true, product_of>},
    KnownInstruction{"fma.bf16x2", 3, add_product<true>},
    KnownInstruction{"min.bf16x2", 2, on_halves<true, least_of>},
    KnownInstruction{"max.bf16x2", 2, on_halves<true, most_of>},
    KnownInstruction{"neg.bf16x2", 1, on_halves<true, opposite>},
    KnownInstruction{"abs.bf16x2", 1, on_halves<true, magnitude>},
    KnownInstruction{"cvt.bf16x2.f32", 2, to_halves<true>},
    KnownInstruction{"prmt.b32", 3, permute},
    KnownInstruction{"bfe.u32", 3, extract_bits},
    KnownInstruction{"bfi.b32", 4, insert_bits},
};

const KnownInstruction* known_as(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kKnown, [&](const KnownInstruction& it) { return it.name == name; });
  return found == kKnown.end() ? nullptr : found;
}

/// Whether a conversion rounds ties away from zero.
bool is_tie_away(std::string_view word, std::string_view before) {
  return word == "rna" && before == "cvt";
}

}  // namespace

const KnownInstruction* instruction(std::string_view text) {
  static const std::set<std::string_view> kModifiers = {"rn", "ftz", "approx", "full"};
  std::string name;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (!name.empty() && (is_tie_away(word, name) || kModifiers.contains(word))) continue;
    name += (name.empty() ? "" : ".") + std::string(word);
  }
  // Only the rounding of ties away from zero is implemented.
  if (name == "cvt.tf32.f32" && text.find(".rna.") == std::string_view::npos) return nullptr;
  if (const KnownInstruction* found = known_as(name)) return found;
  const bool is_integer = name.ends_with(".s32") || name.ends_with(".u32");
  return is_integer ? known_as(name.substr(0, name.size() - 3) + "b32") : nullptr;
}

}  // namespace twill::execute
