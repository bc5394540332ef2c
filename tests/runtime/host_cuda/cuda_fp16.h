#pragma once

#include <cuda_runtime.h>

struct __half {
  unsigned short bits = 0;
};
