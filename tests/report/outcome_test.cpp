#include "twill/report/outcome.h"

#include <gtest/gtest.h>

namespace twill::report {
namespace {

/// Bracket of an order that is proven to take at least 852 cycles and can be kept in 2006.
Bracket expecting(std::optional<Cycles> expected) {
  Bracket bracket;
  bracket.fastest = 852;
  bracket.slowest = 2006;
  bracket.expected = expected;
  return bracket;
}

// Protects: the expected interval lies within the bracket, as the documents say. The co-run model
// has no registers (768 was shown beside 852 .. 2006) and may be slower than the schedule (2276
// beside 1889 .. 1922).
TEST(Outcome, ExpectsNothingOutsideOfTheBracket) {
  EXPECT_EQ(expected_within(expecting(768)), 852);
  EXPECT_EQ(expected_within(expecting(900)), 900);
  EXPECT_EQ(expected_within(expecting(2276)), 2006);
  EXPECT_EQ(expected_within(expecting(std::nullopt)), std::nullopt);
}

// Protects: an order that cannot be kept at the slowest rates has no upper end.
TEST(Outcome, ExpectsAnythingAboveAnOpenBracket) {
  Bracket bracket = expecting(2276);
  bracket.slowest.reset();
  EXPECT_EQ(expected_within(bracket), 2276);
  bracket.expected = 768;
  EXPECT_EQ(expected_within(bracket), 852);
}

}  // namespace
}  // namespace twill::report
