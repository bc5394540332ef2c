#pragma once

#include "runtime/types.cuh"

/// There is no clock: the executor takes no stamps.
namespace twill {

struct alignas(16) Stamp {
  uint32_t step, clock;
  int rounds, unused;
};

class Stamps {
 public:
  Stamps(Stamp*, int, int) {}
  void mark(uint32_t, int = 0) {}
};

}  // namespace twill
