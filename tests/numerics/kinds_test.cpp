#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/numbers_loop.h"

// Protects kinds of kernels that the shipped kernels do not have. Their numbers were once read at
// the wrong place, or not at all.
namespace twill::driver {
namespace {

Request request_for_kind(const std::string& kind) {
  Request request;
  request.input =
      read_input(std::string(TWILL_SOURCE_DIR) + "/tests/numerics/kinds/" + kind + ".ttgir")
          .value();
  request.machine = "h200";
  request.limits.work_limit = 20'000'000;  // any schedule will do
  return request;
}

NumbersRequest with_size(std::int64_t size) {
  NumbersRequest wanted;
  wanted.launch.size = size;
  return wanted;
}

// Protects: a product that adds to a scaled product of the same iteration, whose op makes two
// tiles; arrays of 64-bit indices; and bounds that lie in memory.
TEST(Kinds, ComputeWhatTheirTextDoes) {
  for (const std::string kind : {"acc_from_product", "gather64", "delta_recur"}) {
    const auto loop = compare_numbers(request_for_kind(kind), with_size(640));
    ASSERT_TRUE(loop.has_value()) << kind << "\n" << to_string(loop.error());
    ASSERT_TRUE(loop->comparison.has_value()) << kind;
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << kind << "\n"
                                                     << numerics::to_text(*loop->comparison);
    EXPECT_GT(loop->comparison->trips, 2) << kind;
  }
}

// Protects: while loops that go from one loaded address to the next, with branches in them.
// Also single precision in three products with its rounding in assembly, and descriptors that the
// loop makes.
TEST(Kinds, ConditionsAndAssemblyComputeWhatTheirTextDoes) {
  for (const std::string kind : {"while_list", "skipped_block", "tf32x3", "desc_in_loop"}) {
    const auto loop = compare_numbers(request_for_kind(kind), with_size(12));
    ASSERT_TRUE(loop.has_value()) << kind << "\n" << to_string(loop.error());
    ASSERT_TRUE(loop->comparison.has_value()) << kind;
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << kind << "\n"
                                                     << numerics::to_text(*loop->comparison);
    EXPECT_GT(loop->comparison->trips, 1) << kind;
  }
}

// Protects: addresses that each iteration loads, and waits of dependent launches. Also maxima of
// numbers by atomic operations on their bits, and assembly on bytes of a register.
TEST(Kinds, AddressesWaitsAndBitsComputeWhatTheirTextDoes) {
  for (const std::string kind :
       {"address_table", "dependent_launch", "atomic_maximum", "packed_assembly"}) {
    const auto loop = compare_numbers(request_for_kind(kind), with_size(128));
    ASSERT_TRUE(loop.has_value()) << kind << "\n" << to_string(loop.error());
    ASSERT_TRUE(loop->comparison.has_value()) << kind;
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << kind << "\n"
                                                     << numerics::to_text(*loop->comparison);
    EXPECT_GT(loop->comparison->trips, 2) << kind;
  }
}

// Protects: a branch that is not taken leaves its sums as they are, and a branch that is taken does
// its work. Each side is run on purpose.
TEST(Kinds, BothSidesOfABranchAreRun) {
  for (const std::string flags : {"0", "1", "0..2"}) {
    NumbersRequest wanted = with_size(12);
    wanted.launch.arrays["live_ptr"] = execute::read_values(flags).value();
    const auto loop = compare_numbers(request_for_kind("skipped_block"), wanted);
    ASSERT_TRUE(loop.has_value()) << flags << "\n" << to_string(loop.error());
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << flags << "\n"
                                                     << numerics::to_text(*loop->comparison);
  }
}

// Protects: a branch with work on both sides, of which the plan has ops for one, computes both,
// whichever side the flags choose. Also branches within branches, and values that one iteration
// keeps from another's load.
TEST(Kinds, WorkOnBothSidesOfABranchComputesWhatTheTextDoes) {
  struct Case {
    std::string kind, array;
    std::vector<std::string> flags;
    std::int64_t size = 9;
  };
  const Case cases[] = {{"two_products", "kind_ptr", {"", "0", "1"}},
                        {"two_masks", "", {""}},
                        {"two_sums", "flag_ptr", {"", "0", "3"}},
                        {"two_in_while", "", {""}},
                        {"three_products", "flags", {"", "0", "2", "3", "0..4"}, 320},
                        {"two_accumulators", "flags", {"", "0", "1", "0..2"}, 320},
                        {"side_sums", "f", {"", "0", "1", "0..2"}, 320},
                        {"kept_scale", "", {""}}};
  for (const auto& [kind, array, all, size] : cases) {
    for (const std::string& flags : all) {
      NumbersRequest wanted = with_size(size);
      if (!flags.empty()) wanted.launch.arrays[array] = execute::read_values(flags).value();
      const auto loop = compare_numbers(request_for_kind(kind), wanted);
      ASSERT_TRUE(loop.has_value()) << kind << "\n" << to_string(loop.error());
      ASSERT_TRUE(loop->comparison.has_value()) << kind;
      EXPECT_TRUE(numerics::agrees(*loop->comparison)) << kind << " " << flags << "\n"
                                                       << numerics::to_text(*loop->comparison);
      EXPECT_GT(loop->comparison->trips, 2) << kind;
    }
  }
}

// Protects: without a trip there is nothing to compare, and no agreement.
TEST(Kinds, WithoutATripThereIsNothingToCompare) {
  NumbersRequest none = with_size(64);
  none.launch.arrays["ends_ptr"] = execute::read_values("64").value();
  const auto loop = compare_numbers(request_for_kind("delta_recur"), none);
  ASSERT_FALSE(loop.has_value());
  EXPECT_NE(loop.error().message.find("no trip"), std::string::npos) << loop.error().message;
}

}  // namespace
}  // namespace twill::driver
