#include "runtime/ring.cuh"

#include <utility>

#include <gtest/gtest.h>

namespace twill {
namespace {

/// Position of iteration `i`, by definition; laps before the first count downwards.
template <int Depth>
Ring<Depth> place_of(int i) {
  const int slot = (i % Depth + Depth) % Depth;
  Ring<Depth> ring;
  ring.slot = static_cast<unsigned>(slot);
  ring.phase = static_cast<unsigned>((i - slot) / Depth) & 1U;
  return ring;
}

template <int Depth>
void expect_at(Ring<Depth> ring, int iteration) {
  EXPECT_EQ(ring.slot, place_of<Depth>(iteration).slot) << Depth << " slots, " << iteration;
  EXPECT_EQ(ring.phase, place_of<Depth>(iteration).phase) << Depth << " slots, " << iteration;
}

template <int Depth, int... K>
void expect_all_steps(std::integer_sequence<int, K...>) {
  constexpr int kFurthest = static_cast<int>(sizeof...(K)) / 2;
  for (int i = 0; i < 5 * Depth; ++i) {
    (expect_at<Depth>(place_of<Depth>(i).template at<K - kFurthest>(), i + K - kFurthest), ...);
  }
}

template <int Depth>
void expect_ring() {
  expect_all_steps<Depth>(std::make_integer_sequence<int, 41>());
  Ring<Depth> one_by_one;
  for (int i = 0; i < 5 * Depth; ++i, one_by_one.advance()) {
    expect_at<Depth>(one_by_one, i);
    for (unsigned n = 0; n < 5 * Depth; ++n) {
      Ring<Depth> jumped = one_by_one;
      jumped.advance(n);
      expect_at<Depth>(jumped, i + static_cast<int>(n));
    }
  }
}

// Protects every emitted kernel's ring arithmetic: a wrong slot or parity is a hang or a race.
TEST(Ring, StandsWhereTheIterationIsWhateverTheStep) {
  expect_ring<1>();
  expect_ring<2>();
  expect_ring<3>();
  expect_ring<4>();
  expect_ring<7>();
}

// Protects the first lap: a writer waits for the phase before the first, which is of parity 1.
TEST(Ring, BeginsInALapOfParityZero) {
  EXPECT_EQ(Ring<3>().slot, 0U);
  EXPECT_EQ(Ring<3>().phase, 0U);
  static_assert(Ring<3>().at<-1>().slot == 2 && Ring<3>().at<-1>().phase == 1);
  static_assert(Ring<2>().at<5>().slot == 1 && Ring<2>().at<5>().phase == 0);
}

}  // namespace
}  // namespace twill
