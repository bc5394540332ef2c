#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

// Protects docs/reference/loop-format.md: readers copy its examples.
namespace twill::schedule {
namespace {

std::string page_text(const std::string& name) {
  std::ifstream file(TWILL_SOURCE_DIR "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Finds the texts between lines of ``` alone; blocks in a named language are not loops.
std::vector<std::string> examples() {
  std::vector<std::string> blocks;
  const std::string page = page_text("docs/reference/loop-format.md");
  std::string* block = nullptr;
  bool other = false;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page.find('\n', at);
    const std::string line = page.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("```")) {
      if (block != nullptr) *block += line + "\n";
    } else if (block != nullptr || other) {
      block = nullptr;
      other = false;
    } else if (line == "```") {
      block = &blocks.emplace_back();
    } else {
      other = true;
    }
  }
  return blocks;
}

LoopText parsed_page(const std::string& text) {
  Result<LoopText> loop = parse_loop(text, "loop-format.md");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return *std::move(loop);
}

class LoopFormatPage : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(blocks_.size(), 5u); }
  const std::vector<std::string> blocks_ = examples();
};

TEST_F(LoopFormatPage, ShowsFigure1AsItIsBundledInCanonicalForm) {
  const LoopText loop = parsed_page(blocks_[0]);
  EXPECT_EQ(print_loop(loop), blocks_[0]);
  EXPECT_EQ(loop.problem, parsed_page(page_text("loops/fig1.loop")).problem);
}

TEST_F(LoopFormatPage, ShowsAScheduleThatObeysTheRules) {
  const LoopText loop = parsed_page(blocks_[0] + blocks_[1]);
  ASSERT_TRUE(loop.schedule);
  EXPECT_TRUE(verify::verify(loop.problem, *loop.schedule));
}

TEST_F(LoopFormatPage, ShowsAnOpWithTwoAlternatives) {
  const LoopText loop = parsed_page("loop x\nunit MUFU\nunit FMA\ngroup G\n" + blocks_[2]);
  EXPECT_EQ(loop.problem.ops()[0].alternatives.size(), 2u);
}

TEST_F(LoopFormatPage, ShowsATransfer) {
  const LoopText loop = parsed_page(
      "loop x\nunit ALU\nunit TC\nmemory SMEM capacity 99999\ngroup G\ngroup H\n" + blocks_[3]);
  EXPECT_EQ(loop.problem.transfers().size(), 1u);
}

TEST_F(LoopFormatPage, ShowsAnOrderThatReachesTheOptimum) {
  const LoopText loop = parsed_page(blocks_[0] + blocks_[4]);
  ASSERT_TRUE(loop.order);
  const Result<LeastInterval> least = least_interval(loop.problem, *loop.order);
  ASSERT_TRUE(least) << to_string(least.error());
  EXPECT_EQ(least->initiation_interval, 2);
}

}  // namespace
}  // namespace twill::schedule
