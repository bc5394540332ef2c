#include "twill/tasks/variants.h"

#include "programs.h"
#include "twill/tasks/evaluate.h"
#include "twill/tasks/vocabulary.h"

namespace twill::tasks {
namespace {

Result<std::vector<ComparedVariant>> compared(const std::string& text) {
  return compare_variants(must_read(text).library);
}

class Variants : public testing::TestWithParam<const char*> {};

// Protects: the result is the same for all choices of a mapping. All variants of bundled programs
// run at some small sizes.
TEST_P(Variants, MeanTheSame) {
  const auto all = compared(bundled(GetParam()));
  ASSERT_TRUE(all) << to_string(all.error());
  for (const ComparedVariant& it : *all) {
    EXPECT_TRUE(it.with.empty() || it.runs > 0) << it.variant << " was not run";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Variants,
                         testing::Values("gemm.task", "gemm_gelu.task", "attention.task",
                                         "attention_causal.task", "attention_fa3.task",
                                         "batched_gemm.task", "conv.task", "split_k.task",
                                         "gemm_rowsum.task"));

constexpr const char* kGemm = R"(
task gemm(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[K, N])
inner gemm.rows tunable U { prange i < cdiv(M, U) { gemm(blocks(C, U, N)[i, 0], blocks(A, U, K)[i, 0], B) } }
inner gemm.deep tunable W { srange k < cdiv(K, W) { LAUNCH } }
leaf gemm.all { C = mma(A, B) }
)";

// Protects: a variant with another result is reported with an element and the sizes. Here the
// variant is the paper's own mistake: it overwrites C in each step along K instead of adding to C.
TEST(Variants, WhatMeansSomethingElseIsNamed) {
  std::string text = kGemm;
  const std::string from = "LAUNCH";
  text.replace(text.find(from), from.size(),
               "gemm(C, blocks(A, M, W)[0, k], blocks(B, W, N)[k, 0])");
  const auto wrong = compared(text);
  ASSERT_FALSE(wrong);
  const std::string message = wrong.error().message;
  EXPECT_EQ(message.find("T16: 'gemm.deep' is not what 'gemm.all' is: element "), 0U) << message;
  EXPECT_NE(message.find("of 'C'"), std::string::npos) << message;
  EXPECT_NE(message.find("W = "), std::string::npos) << message;
  EXPECT_EQ(wrong.error().location.line, 4);
}

// Protects: a fault that only numbers show is reported with the sizes that show it.
TEST(Variants, ElementsLeftUnwrittenAreFound) {
  const auto wrong = compared(R"(
task copy(writes To: f16[M], reads From: f16[M])
inner copy.halves { prange i < M / 2 { copy(blocks(To, 1)[i], blocks(From, 1)[i]) } }
leaf copy.all { To = From }
)");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("T14: "), 0U) << wrong.error().message;
  EXPECT_NE(wrong.error().message.find(", with M = "), std::string::npos) << wrong.error().message;
}

// Protects: a task with a single variant cannot be compared, and a task whose sizes are never drawn
// is reported as not compared.
TEST(Variants, SaysWhatWasNotCompared) {
  const auto all = compared(R"(
task one(writes To: f16[M])
task odd(writes To: f16[M])
leaf one.all { To = 0 }
inner odd.exact { prange i < M / 4099 { odd(blocks(To, 4099)[i]) } }
leaf odd.all { To = 1 }
)");
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_EQ(to_string(*all),
            "one.all: says what its task means\n"
            "odd.exact: not compared with odd.all: no small sizes are known with which both run\n"
            "odd.all: says what its task means\n");
}

// Protects: an infinity is close only to the same infinity.
TEST(Variants, InfinitiesAreNoRoomForOthers) {
  const auto wrong = compared(R"(
task t(writes C: f32[M], reads A: f32[M])
leaf t.other { C = 1 }
leaf t.all { C = 1 / (A - A) * (A - A + 1) }
)");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("T16"), 0U) << wrong.error().message;
}

// Protects: tensors with too many elements are not allocated.
TEST(Variants, ManySizesAreNotRun) {
  std::string names = "writes C: f16[M]";
  for (int i = 0; i < 40; ++i) {
    names += ", reads A" + std::to_string(i) + ": f16[N" + std::to_string(i) + "]";
  }
  const auto all = compared("task t(" + names + ", reads B: f32[1000000, 1000000])\n" +
                            "leaf t.one { C = 1 }\nleaf t.two { C = 1 }\n");
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_EQ(all->front().runs, 0);
}

// Protects: leaf and formula compute the same, function by function.
TEST(Words, OfFormulasAreThoseOfLeaves) {
  const std::pair<Function, std::string_view> cases[] = {
      {Function::add, "add"},    {Function::sub, "sub"},          {Function::mul, "mul"},
      {Function::div, "div"},    {Function::less, "lt"},          {Function::less_equal, "le"},
      {Function::greater, "gt"}, {Function::greater_equal, "ge"}, {Function::equal, "eq"},
      {Function::unequal, "ne"},
  };
  for (const auto& [function, word] : cases) EXPECT_EQ(ir::name_of(word_of(function)), word);
  for (int i = static_cast<int>(Function::max); i <= static_cast<int>(Function::select); ++i) {
    const auto function = static_cast<Function>(i);
    if (is_comparison(function)) continue;
    EXPECT_EQ(ir::name_of(word_of(function)), spelling_of(function).name);
  }
}

}  // namespace
}  // namespace twill::tasks
