#pragma once

#include <cuda_runtime.h>

/// See cuda_runtime.h. Sums and products are computed as floats and rounded once: as exact as the
/// type's own.
struct __nv_bfloat16 {
  unsigned short bits;
};
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return {twill::run::to_bfloat16(x)}; }
inline float __bfloat162float(__nv_bfloat16 x) { return twill::run::from_bfloat16(x.bits); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }

#define TWILL_OPERATOR(op)                                                  \
  inline __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) {      \
    return __float2bfloat16_rn(__bfloat162float(a) op __bfloat162float(b)); \
  }
TWILL_OPERATOR(+)
TWILL_OPERATOR(-)
TWILL_OPERATOR(*)
TWILL_OPERATOR(/)
#undef TWILL_OPERATOR
#define TWILL_OPERATOR(op)                                    \
  inline bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { \
    return __bfloat162float(a) op __bfloat162float(b);        \
  }
TWILL_OPERATOR(==)
TWILL_OPERATOR(!=)
TWILL_OPERATOR(<)
TWILL_OPERATOR(<=)
TWILL_OPERATOR(>)
TWILL_OPERATOR(>=)
#undef TWILL_OPERATOR
inline __nv_bfloat16 operator-(__nv_bfloat16 x) {
  return {static_cast<unsigned short>(x.bits ^ 0x8000U)};
}
inline __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(fmaxf(__bfloat162float(a), __bfloat162float(b)));
}
inline __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(fminf(__bfloat162float(a), __bfloat162float(b)));
}
inline __nv_bfloat16 __habs(__nv_bfloat16 x) {
  return {static_cast<unsigned short>(x.bits & 0x7fffU)};
}
