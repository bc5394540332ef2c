#include <gmock/gmock.h>

#include "extract/ttgir.h"

namespace twill::extract::testing {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::string& text, const std::string& selector = "") {
  const ir::Program program = program_of(text);
  const auto choice = choose_loop(program, selector);
  return choice ? "chose " + std::to_string(choice->number)
                : choice.error().message + " / " + choice.error().hint;
}

std::string two_loops() {
  return hopper_kernel(loads() + product(), "%d", "", R"(
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%x = %r) -> (tensor<128x128xf32, #mma>)  : i32 {
      %y = arith.addf %x, %x : tensor<128x128xf32, #mma>
      scf.yield %y : tensor<128x128xf32, #mma>
    }
)");
}

// A kernel without a loop is refused with a message.
TEST(ChooseLoop, RefusesAKernelWithoutALoop) {
  EXPECT_THAT(message_of("module { tt.func public @f(%n: i32) { tt.return } }"),
              HasSubstr("no loop"));
}

// A softmax has loops but no product: the message says so.
TEST(ChooseLoop, RefusesLoopsWithoutTensorCoreWork) {
  const std::string text = R"(module { tt.func public @f(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32)  : i32 {
      %y = arith.addi %x, %i : i32
      scf.yield %y : i32
    }
    tt.return } })";
  EXPECT_THAT(message_of(text), HasSubstr("tensor-core work"));
  EXPECT_THAT(message_of(text, "0"), HasSubstr("has no tensor-core work"));
}

// Tiles that two CTAs share are refused at the module's line, instead of being charged to one CTA.
TEST(ChooseLoop, RefusesKernelsOfSeveralCtas) {
  std::string text = hopper_kernel(loads() + product());
  const std::string one = "\"ttg.num-ctas\" = 1";
  text.replace(text.find(one), one.size(), "\"ttg.num-ctas\" = 2");
  const auto choice = choose_loop(program_of(text), "");
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().location.file, "test.ttgir");
  EXPECT_EQ(choice.error().location.line, 5);
  EXPECT_THAT(choice.error().message, HasSubstr("2 CTAs"));
  EXPECT_THAT(choice.error().hint, HasSubstr("num_ctas=1"));
}

// The default is the loop with the products, at any place; a number selects in text order.
TEST(ChooseLoop, TakesTheLoopWithTheProducts) {
  EXPECT_EQ(message_of(two_loops()), "chose 0");
  EXPECT_EQ(message_of(two_loops(), "0"), "chose 0");
  EXPECT_THAT(message_of(two_loops(), "1"), HasSubstr("loop 1 has no tensor-core work"));
}

// A selector without a match lists all loops.
TEST(ChooseLoop, ListsTheLoopsWhenTheSelectorFitsNone) {
  const std::string message = message_of(two_loops(), "7");
  EXPECT_THAT(message, HasSubstr("no loop '7'"));
  EXPECT_THAT(message, HasSubstr("1 at line"));
  EXPECT_THAT(message_of(two_loops(), "somewhere"), HasSubstr("no loop 'somewhere'"));
}

// A line of the text also selects.
TEST(ChooseLoop, SelectsByLineOfTheText) {
  const ir::Program program = program_of(two_loops());
  const auto loops = loops_of(program);
  ASSERT_EQ(loops.size(), 2U);
  const int line = ir::text_location(program, loops[0].loop).line;
  EXPECT_EQ(message_of(two_loops(), ":" + std::to_string(line)), "chose 0");
  EXPECT_EQ(message_of(two_loops(), "test.ttgir:" + std::to_string(line)), "chose 0");
}

// FLOP of an iteration: 2 M N K of its own products.
TEST(ChooseLoop, CountsTheWorkOfOneIteration) {
  const auto loops = loops_of(program_of(two_loops()));
  EXPECT_EQ(loops[0].flops, 2LL * 128 * 128 * 64);
  EXPECT_EQ(loops[1].flops, 0);
}

}  // namespace
}  // namespace twill::extract::testing
