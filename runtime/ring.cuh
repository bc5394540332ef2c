#pragma once

#if defined(__CUDACC__)
#define TWILL_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define TWILL_HOST_DEVICE inline
#endif

namespace twill {

/// Position of an iteration in a ring of `Depth` slots. Iteration i uses slot i mod Depth, and
/// `phase` is the parity of its lap, (i / Depth) mod 2. A reader waits for a full barrier with
/// `phase`, a writer for an empty barrier with `phase ^ 1`. The writer's wait passes in the first
/// lap, since a fresh mbarrier counts as having completed an earlier phase of parity 1.
///
/// Starts at iteration 0. Compile-time steps cost an add, a compare and two selects. Plain C++:
/// also used on the host.
template <int Depth>
struct Ring {
  static_assert(Depth >= 1, "a ring has at least one slot");

  unsigned slot = 0;
  unsigned phase = 0;

  /// The position `K` iterations later; `K` has any sign. A position before the first lap has a lap
  /// of parity 1.
  template <int K>
  TWILL_HOST_DEVICE constexpr Ring at() const {
    constexpr int kSlots = (K % Depth + Depth) % Depth;
    constexpr unsigned kLaps = static_cast<unsigned>((K - kSlots) / Depth) & 1U;
    const unsigned moved = slot + static_cast<unsigned>(kSlots);
    const bool wraps = moved >= static_cast<unsigned>(Depth);
    Ring result;
    result.slot = wraps ? moved - static_cast<unsigned>(Depth) : moved;
    result.phase = phase ^ kLaps ^ (wraps ? 1U : 0U);
    return result;
  }

  template <int K = 1>
  TWILL_HOST_DEVICE constexpr void advance() {
    *this = at<K>();
  }

  /// Advances by a count that is known only at run time, below 2^32 - Depth. Costs one division by
  /// a constant: once a tile, not once an iteration.
  TWILL_HOST_DEVICE constexpr void advance(unsigned iterations) {
    const unsigned moved = slot + iterations;
    slot = moved % static_cast<unsigned>(Depth);
    phase ^= (moved / static_cast<unsigned>(Depth)) & 1U;
  }
};

}  // namespace twill

#undef TWILL_HOST_DEVICE
