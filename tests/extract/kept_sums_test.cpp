#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "extract/ttgir.h"

/// Protects: a carried sum that an op reads together with a product's new sum is copied before the
/// product, in the product's group. Other readers of a sum need no copy.
namespace twill::extract::testing {
namespace {

const std::string kStored = R"(
      %to = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>, #mma>
      %half = arith.truncf %v : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      tt.store %to, %half : tensor<128x128x!tt.ptr<f16>, #mma>
)";

/// Ops whose name begins with "kept".
std::size_t copies_in(const problem::Problem& problem) {
  return static_cast<std::size_t>(
      std::count_if(problem.ops().begin(), problem.ops().end(),
                    [](const problem::Op& op) { return op.name.starts_with("kept"); }));
}

TEST(KeptSums, AreReadInPlaceOfTheSum) {
  const std::string both =
      loads() + product() + "      %v = arith.subf %d, %acc : tensor<128x128xf32, #mma>\n";
  const problem::Problem problem = extracted(hopper_kernel(both + kStored), "h200", kWhole).problem;
  ASSERT_EQ(copies_in(problem), 1U);
  const auto* read = find_dependence(problem, "mma", "kept_mma", 1);
  const auto* order = find_dependence(problem, "kept_mma", "mma");
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(read->carries_value);
  ASSERT_NE(order, nullptr);
  EXPECT_FALSE(order->carries_value);
  const problem::OpId copy = order->from;
  EXPECT_GT(problem[copy].registers, 0);
  for (const problem::Dependence& it : problem.dependences()) {
    const bool reads_sum = it.from == order->to && it.distance == 1 && it.carries_value;
    EXPECT_TRUE(!reads_sum || it.to == copy || it.in_place) << problem[it.to].name;
  }
  const auto together = problem.same_group();
  EXPECT_TRUE(std::any_of(together.begin(), together.end(), [&](const auto& ops) {
    return std::find(ops.begin(), ops.end(), copy) != ops.end() &&
           std::find(ops.begin(), ops.end(), order->to) != ops.end();
  }));
}

TEST(KeptSums, AreOnlyForThoseThatReadBoth) {
  const std::string old =
      loads() + "      %v = math.exp2 %acc : tensor<128x128xf32, #mma>\n" + kStored + product();
  const std::string made =
      loads() + product() + "      %v = math.exp2 %d : tensor<128x128xf32, #mma>\n" + kStored;
  EXPECT_EQ(copies_in(extracted(hopper_kernel(old), "h200", kWhole).problem), 0U);
  EXPECT_EQ(copies_in(extracted(hopper_kernel(made), "h200", kWhole).problem), 0U);
}

// Each sub-tile has its copy.
TEST(KeptSums, AreCutWithTheirSums) {
  const std::string both =
      loads() + product() + "      %v = arith.subf %d, %acc : tensor<128x128xf32, #mma>\n";
  Options options;
  options.subtile = 64;
  EXPECT_EQ(copies_in(extracted(hopper_kernel(both + kStored), "h200", options).problem), 2U);
}

}  // namespace
}  // namespace twill::extract::testing
