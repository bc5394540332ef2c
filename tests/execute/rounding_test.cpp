#include "twill/execute/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>

#include <gtest/gtest.h>
#include <rapidcheck.h>

// Compares rounding to the narrow types with all numbers of these types, decoded bit by bit.
namespace twill::execute {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Number with these bits of sign, exponent and mantissa. E4M3FN has no infinity, and only its
/// largest pattern is NaN.
double decoded(unsigned bits, int exponent_bits, int mantissa_bits, bool infinite) {
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1);
  const unsigned exponent = (bits >> mantissa_bits) & ((1U << exponent_bits) - 1);
  const bool negative = ((bits >> (mantissa_bits + exponent_bits)) & 1U) != 0;
  const unsigned top = (1U << exponent_bits) - 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool all = exponent == top && mantissa == (1U << mantissa_bits) - 1;
  double value = 0;
  if (infinite && exponent == top) {
    value = mantissa == 0 ? HUGE_VAL : kNaN;
  } else if (!infinite && all) {
    value = kNaN;
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp((1U << mantissa_bits) + mantissa,
                       static_cast<int>(exponent) - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

struct Narrow {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  bool infinite;
};
constexpr Narrow kNarrow[] = {
    {"f16", 5, 10, true}, {"bf16", 8, 7, true}, {"f8E4M3FN", 4, 3, false}, {"f8E5M2", 5, 2, true}};

Format format_named(const char* name) {
  ir::TypeTable types;
  return format_of(types.scalar(name)).value();
}

unsigned patterns(const Narrow& narrow) {
  return 1U << (1 + narrow.exponent_bits + narrow.mantissa_bits);
}

// Protects: every number of a type is rounded to itself, so tiles may be rounded twice.
TEST(Rounding, KeepsEveryNumberOfTheType) {
  for (const Narrow& narrow : kNarrow) {
    const Format format = format_named(narrow.name);
    for (unsigned bits = 0; bits < patterns(narrow); ++bits) {
      const double value =
          decoded(bits, narrow.exponent_bits, narrow.mantissa_bits, narrow.infinite);
      const float rounded = round_to(format, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(rounded)) << narrow.name;
      } else {
        EXPECT_EQ(static_cast<double>(rounded), value) << narrow.name << " " << bits;
        EXPECT_EQ(std::signbit(rounded), std::signbit(value));
      }
    }
  }
}

/// For each value, whether the last bit of its pattern is 0. The number one step above the largest
/// stands for overflow.
std::map<double, bool> positives(const Narrow& narrow) {
  std::map<double, bool> all;
  for (unsigned bits = 0; bits < patterns(narrow) / 2; ++bits) {
    const double value = decoded(bits, narrow.exponent_bits, narrow.mantissa_bits, narrow.infinite);
    if (std::isfinite(value)) all[value] = bits % 2 == 0;
  }
  const double largest = all.rbegin()->first;
  const bool even = all.rbegin()->second;
  all[2 * largest - std::next(all.rbegin())->first] = !even;
  return all;
}

// Protects: rounding to the nearest number, and from halfway to the number whose last bit is 0.
// Covers normal and subnormal ranges and the end of the range.
TEST(Rounding, GoesToTheNearestAndHalfwayToEven) {
  for (const Narrow& narrow : kNarrow) {
    const Format format = format_named(narrow.name);
    const std::map<double, bool> all = positives(narrow);
    const double beyond = all.rbegin()->first;
    const auto expected = [&](double value) {
      return value != beyond ? value : narrow.infinite ? HUGE_VAL : kNaN;
    };
    const auto same = [](float got, double want) {
      return std::isnan(want) ? std::isnan(got) : static_cast<double>(got) == want;
    };
    for (auto low = all.begin(), high = std::next(low); high != all.end(); ++low, ++high) {
      const double middle = (low->first + high->first) / 2;
      const double even = low->second ? low->first : high->first;
      EXPECT_TRUE(same(round_to(format, middle), expected(even))) << narrow.name << " " << middle;
      EXPECT_TRUE(same(round_to(format, -middle), -expected(even))) << narrow.name;
      const double below = std::nextafter(middle, 0), above = std::nextafter(middle, HUGE_VAL);
      EXPECT_TRUE(same(round_to(format, below), expected(low->first)))
          << narrow.name << " " << below;
      EXPECT_TRUE(same(round_to(format, above), expected(high->first))) << narrow.name;
    }
  }
}

// Protects: rounding of any number, with any number of dropped bits.
TEST(Rounding, IsTheNearestForAnyNumber) {
  const Format format = format_named("f16");
  const std::map<double, bool> all = positives(kNarrow[0]);
  rc::check("f16", [&](std::uint32_t bits) {
    const float number = std::bit_cast<float>(bits);
    RC_PRE(std::isfinite(number));
    const double size = std::abs(static_cast<double>(number));
    const double rounded =
        std::abs(static_cast<double>(round_to(format, static_cast<double>(number))));
    RC_ASSERT(std::signbit(round_to(format, static_cast<double>(number))) == std::signbit(number));
    const auto high = all.lower_bound(size);
    if (high == all.end()) {
      RC_ASSERT(std::isinf(rounded));
      return;
    }
    const double up = high->first - size;
    const double down = high == all.begin() ? HUGE_VAL : size - std::prev(high)->first;
    const double best = up < down ? high->first : std::prev(high)->first;
    if (up != down && best != all.rbegin()->first) RC_ASSERT(rounded == best);
  });
}

// Protects: the faster rounding of whole tiles.
TEST(Rounding, OfManyNumbersIsThatOfEach) {
  for (const Format& format : {Format{10, -14, 65504, true}, Format{7, -126, 0x1.fep127, true},
                               Format{3, -6, 448, false}, Format{2, -14, 57344, true}, Format{}}) {
    rc::check("each format", [&](std::uint32_t bits) {
      // Draws ties, which are rare among all numbers.
      for (const std::uint32_t kept : {0xffffffffU, 0xfffff000U, 0xffff8000U, 0xfff80000U}) {
        float number = std::bit_cast<float>(bits & kept);
        if (std::isnan(number)) continue;
        const float expected = round_to(format, static_cast<double>(number));
        round_all(format, std::span(&number, 1));
        RC_ASSERT(std::bit_cast<std::uint32_t>(number) == std::bit_cast<std::uint32_t>(expected));
      }
    });
  }
}

TEST(Rounding, KnowsInfinityAndNaN) {
  EXPECT_TRUE(std::isinf(round_to(format_named("f16"), HUGE_VAL)));
  EXPECT_TRUE(std::isnan(round_to(format_named("f8E4M3FN"), HUGE_VAL)));
  EXPECT_TRUE(std::isnan(round_to(format_named("bf16"), kNaN)));
  ir::TypeTable types;
  EXPECT_FALSE(format_of(types.scalar("f64")).has_value());
  EXPECT_FALSE(format_of(types.scalar("i32")).has_value());
}

}  // namespace
}  // namespace twill::execute
