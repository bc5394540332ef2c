#pragma once

#include <cuda_runtime.h>

/// See cuda_runtime.h.
#define TWILL_EIGHT(name, digits)                                                    \
  struct name {                                                                      \
    unsigned char bits = 0;                                                          \
    name() = default;                                                                \
    explicit name(float x) : bits(twill::run::to_eight<digits>(x)) {}                \
    explicit operator float() const { return twill::run::from_eight<digits>(bits); } \
  };
TWILL_EIGHT(__nv_fp8_e4m3, 3)
TWILL_EIGHT(__nv_fp8_e5m2, 2)
#undef TWILL_EIGHT
