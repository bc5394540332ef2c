#pragma once

#include <cstdint>
#include <cstring>

/// 16-bit numbers, rounded to nearest even as the hardware's conversions do. Functions of the
/// compiler stand in for <cmath>, as in cuda_runtime.h.
namespace twill::run {

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float from_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 31U, digits = half & 0x3ffU;
  if (exponent == 31) return from_bits(sign | 0x7f800000U | digits << 13);
  if (exponent != 0) return from_bits(sign | (exponent + 112) << 23 | digits << 13);
  const float small = static_cast<float>(digits) * 0x1p-24F;
  return sign != 0 ? -small : small;
}

inline std::uint16_t to_half(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000U, rest = bits & 0x7fffffffU;
  if (rest > 0x7f800000U) return 0x7fff;                                       // NaN
  if (rest >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds to infinity
  if (rest < 0x38800000U) {  // subnormal: in units of 2^-24, to nearest even
    const float units = __builtin_nearbyintf(from_bits(rest) * 0x1p24F);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(units));
  }
  const std::uint32_t rounded = rest + 0xfffU + (rest >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

inline float from_bfloat16(std::uint16_t x) {
  return from_bits(static_cast<std::uint32_t>(x) << 16);
}

inline std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;  // NaN
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

/// 8-bit numbers with `Digits` bits behind the point; with 3 there is no infinity. Conversions to
/// them turn numbers that are too large into the largest.
template <int Digits>
float from_eight(std::uint8_t x) {
  constexpr int kBias = Digits == 3 ? 7 : 15;
  const int exponent = (x & 0x7f) >> Digits, digits = x & ((1 << Digits) - 1);
  const float sign = (x & 0x80) != 0 ? -1.0F : 1.0F;
  if (Digits == 3 && (x & 0x7f) == 0x7f) return __builtin_nanf("");
  if (Digits == 2 && exponent == 31) {
    return digits == 0 ? sign * __builtin_inff() : __builtin_nanf("");
  }
  const float value =
      exponent == 0
          ? __builtin_ldexpf(static_cast<float>(digits), 1 - kBias - Digits)
          : __builtin_ldexpf(static_cast<float>(digits + (1 << Digits)), exponent - kBias - Digits);
  return sign * value;
}

template <int Digits>
std::uint8_t to_eight(float x) {
  const auto sign = static_cast<std::uint8_t>(__builtin_signbit(x) ? 0x80 : 0);
  if (__builtin_isnan(x)) return static_cast<std::uint8_t>(sign | 0x7f);
  constexpr std::uint8_t kLargest = Digits == 3 ? 0x7e : 0x7b;
  constexpr int kBias = Digits == 3 ? 7 : 15;
  const float size = __builtin_fabsf(x);
  if (size >= from_eight<Digits>(kLargest)) return static_cast<std::uint8_t>(sign | kLargest);
  int exponent = 0;
  __builtin_frexpf(size, &exponent);
  const int unit = (exponent > 2 - kBias ? exponent - 1 : 1 - kBias) - Digits;
  const auto units = static_cast<int>(__builtin_nearbyintf(__builtin_ldexpf(size, -unit)));
  const int low = unit + Digits + kBias;  // exponent of the format; 1 also for subnormals
  return static_cast<std::uint8_t>(sign | (units + ((low - 1) << Digits)));
}

}  // namespace twill::run
