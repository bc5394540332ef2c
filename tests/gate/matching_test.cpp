#include "twill/gate/matching.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

// Protects the judgement of a kernel's overlaps, role by role: each planned loop is compared with
// its own loop of the code.
namespace twill::gate {
namespace {

using All = std::vector<std::vector<std::string>>;

const LoopCode kAttention = {0, {{1, 16, 0}, {0, 0, 64}}, 0, 0};
const LoopCode kProduct = {0, {{1, 4, 0}}, 0, 0};

LoopCode at(std::uint32_t address, LoopCode loop) {
  loop.address = address;
  return loop;
}

/// Attention whose second wait ptxas moved up.
LoopCode hoisted(std::uint32_t address) { return {address, {{1, 16, 0}, {0, 0, 23}}, 0, 41}; }
constexpr const char* kHoisted =
    "wait 2 of the loop at 0x60 follows 23 exponentials, in the plan 64";
constexpr const char* kNone = "there is no loop of products of its own";

FunctionCode code_with(const std::vector<std::vector<LoopCode>>& roles) {
  FunctionCode code;
  for (const auto& loops : roles) code.roles.emplace_back().loops = loops;
  return code;
}

// The order of roles in the code does not matter; a loop without products matches no role.
TEST(Matching, FindsEachLoopOfItsOwn) {
  const FunctionCode code =
      code_with({{at(0x60, kProduct)}, {}, {at(0x200, kAttention)}, {at(0x400, kProduct)}});
  EXPECT_EQ(shortfalls({kAttention, kProduct, kProduct}, code), (All{{}, {}, {}}));
  EXPECT_EQ(shortfalls({kProduct, kAttention}, code), (All{{}, {}}));
  EXPECT_EQ(shortfalls({}, code), All{});
}

// Two roles do the same, and ptxas follows the plan in one of them.
TEST(Matching, AGoodRoleDoesNotVouchForABadOne) {
  const All one_is_bad = {{}, {kHoisted}};
  EXPECT_EQ(
      shortfalls({kAttention, kAttention}, code_with({{at(0x200, kAttention)}, {hoisted(0x60)}})),
      one_is_bad);
  const All either =
      shortfalls({kAttention, kAttention}, code_with({{hoisted(0x60)}, {at(0x200, kAttention)}}));
  EXPECT_EQ(either[0].size() + either[1].size(), 1U);
}

// The loop that fits one plan well goes to it, even if another plan is asked first.
TEST(Matching, TakesTheAlternativeThatComesClosest) {
  const LoopCode unlike = at(0x60, kProduct);
  EXPECT_EQ(shortfalls({kAttention, kProduct}, code_with({{unlike}, {hoisted(0x60)}})),
            (All{{kHoisted}, {}}));
}

// A role whose loop is missing, unrolled, or merged with another role's.
TEST(Matching, SaysThatThereAreFewerLoopsThanRoles) {
  EXPECT_EQ(shortfalls({kAttention, kAttention}, code_with({{at(0x60, kAttention)}, {}})),
            (All{{}, {kNone}}));
  EXPECT_EQ(shortfalls({kProduct, kAttention}, code_with({{at(0x60, kAttention)}})),
            (All{{kNone}, {}}));
  EXPECT_EQ(shortfalls({kAttention}, code_with({})), (All{{kNone}}));
  // A loop with a shortfall matches rather than none.
  EXPECT_EQ(shortfalls({kAttention}, code_with({{hoisted(0x60)}})), (All{{kHoisted}}));
}

}  // namespace
}  // namespace twill::gate
