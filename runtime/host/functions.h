#pragma once

#include <type_traits>

/// Functions of the C library that kernels call by their own names. CUDA also has them for float
/// under the short names; here these compute in double.
/// <cmath> has them, too, and takes half of the time in which a printed kernel is compiled. `twill
/// run` includes that header for kernels that do not compile without.
#define TWILL_OF_ONE(name)                 \
  extern "C" double name(double) noexcept; \
  extern "C" float name##f(float) noexcept;
#define TWILL_OF_TWO(name)                         \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept;

TWILL_OF_ONE(acos)
TWILL_OF_ONE(acosh)
TWILL_OF_ONE(asin)
TWILL_OF_ONE(asinh)
TWILL_OF_ONE(atan)
TWILL_OF_ONE(atanh)
TWILL_OF_ONE(cbrt)
TWILL_OF_ONE(ceil)
TWILL_OF_ONE(cos)
TWILL_OF_ONE(cosh)
TWILL_OF_ONE(erf)
TWILL_OF_ONE(erfc)
TWILL_OF_ONE(exp)
TWILL_OF_ONE(exp2)
TWILL_OF_ONE(expm1)
TWILL_OF_ONE(fabs)
TWILL_OF_ONE(floor)
TWILL_OF_ONE(lgamma)
TWILL_OF_ONE(log)
TWILL_OF_ONE(log10)
TWILL_OF_ONE(log1p)
TWILL_OF_ONE(log2)
TWILL_OF_ONE(nearbyint)
TWILL_OF_ONE(rint)
TWILL_OF_ONE(round)
TWILL_OF_ONE(sin)
TWILL_OF_ONE(sinh)
TWILL_OF_ONE(sqrt)
TWILL_OF_ONE(tan)
TWILL_OF_ONE(tanh)
TWILL_OF_ONE(tgamma)
TWILL_OF_ONE(trunc)
TWILL_OF_TWO(atan2)
TWILL_OF_TWO(copysign)
TWILL_OF_TWO(fdim)
TWILL_OF_TWO(fmax)
TWILL_OF_TWO(fmin)
TWILL_OF_TWO(fmod)
TWILL_OF_TWO(hypot)
TWILL_OF_TWO(nextafter)
TWILL_OF_TWO(pow)
TWILL_OF_TWO(remainder)

#undef TWILL_OF_ONE
#undef TWILL_OF_TWO

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long lroundf(float) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" int abs(int) noexcept;
/// CUDA has this name for floating-point numbers, too. A template, since <cmath> adds functions.
template <class T>
requires std::is_floating_point_v<T>
constexpr T abs(T x) { return static_cast<T>(__builtin_fabs(static_cast<double>(x))); }
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
