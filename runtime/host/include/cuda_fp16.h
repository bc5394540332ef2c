#pragma once

#include <cuda_runtime.h>

/// See cuda_runtime.h. Sums and products are computed as floats and rounded once: as exact as the
/// type's own.
struct __half {
  unsigned short bits;
};
inline __half __float2half_rn(float x) { return {twill::run::to_half(x)}; }
inline float __half2float(__half x) { return twill::run::from_half(x.bits); }
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }

#define TWILL_OPERATOR(op)                                      \
  inline __half operator op(__half a, __half b) {               \
    return __float2half_rn(__half2float(a) op __half2float(b)); \
  }
TWILL_OPERATOR(+)
TWILL_OPERATOR(-)
TWILL_OPERATOR(*)
TWILL_OPERATOR(/)
#undef TWILL_OPERATOR
#define TWILL_OPERATOR(op) \
  inline bool operator op(__half a, __half b) { return __half2float(a) op __half2float(b); }
TWILL_OPERATOR(==)
TWILL_OPERATOR(!=)
TWILL_OPERATOR(<)
TWILL_OPERATOR(<=)
TWILL_OPERATOR(>)
TWILL_OPERATOR(>=)
#undef TWILL_OPERATOR
inline __half operator-(__half x) { return {static_cast<unsigned short>(x.bits ^ 0x8000U)}; }
inline __half __hmax(__half a, __half b) {
  return __float2half_rn(fmaxf(__half2float(a), __half2float(b)));
}
inline __half __hmin(__half a, __half b) {
  return __float2half_rn(fminf(__half2float(a), __half2float(b)));
}
inline __half __habs(__half x) { return {static_cast<unsigned short>(x.bits & 0x7fffU)}; }
