#include "twill/tasks/size.h"

#include <gtest/gtest.h>

namespace twill::tasks {
namespace {

const Size kM = Size::named("M");

// Equal sizes must be equal values, or a launch that fits would be refused.
TEST(Size, FoldsConstantsAndNeutralElements) {
  EXPECT_EQ(cdiv(Size(100), Size(64)), Size(2));
  EXPECT_EQ(kM * 1 + 0, kM);
  EXPECT_EQ(cdiv(kM, 1), kM);
  EXPECT_NE(kM + 1, kM);
}

TEST(Size, PrintsBracketsOnlyWhereTheyAreNeeded) {
  EXPECT_EQ(to_string((kM + 1) * 2), "(M + 1) * 2");
  EXPECT_EQ(to_string(kM - (kM - 1)), "M - (M - 1)");
  EXPECT_EQ(to_string(cdiv(kM * 2, "N")), "cdiv(M * 2, N)");
}

// A division with a remainder has no value: the message has both numbers.
TEST(Size, SaysWhyThereIsNoValue) {
  EXPECT_EQ(value_of(kM / 64, {{"M", 128}}).value(), 2);
  EXPECT_EQ(value_of(kM / 64, {{"M", 100}}).error().why,
            "cannot divide 100 by 64 without a remainder");
  EXPECT_EQ(value_of(kM, {}).error().why, "'M' has no value");
  EXPECT_EQ(value_of(kM * kM, {{"M", std::int64_t{1} << 40}}).error().why,
            "a size is beyond 64 bits");
}

}  // namespace
}  // namespace twill::tasks
