#include "programs.h"

namespace twill::tasks {
namespace {

class Bundled : public testing::TestWithParam<std::string> {};

// Printed text reads back as the same value, and prints as the same text.
TEST_P(Bundled, ReadsBackAsWhatWasPrinted) {
  const TaskText read = must_read(bundled(GetParam()));
  const auto checked = check(read.library);
  ASSERT_TRUE(checked) << to_string(checked.error());
  const std::string printed = print_tasks(read);
  const TaskText again = must_read(printed);
  EXPECT_EQ(read, again) << printed;
  EXPECT_EQ(printed, print_tasks(again));
}

INSTANTIATE_TEST_SUITE_P(All, Bundled,
                         testing::Values("gemm.task", "attention.task", "scale.task",
                                         "dual_gemm.task", "gated_mlp.task"),
                         [](const auto& it) { return it.param.substr(0, it.param.find('.')); });

const std::string kPair = "task t(updates x: f32[M], updates y: f32[M])\n";

// Assignments are in the order of the arguments when printed; what one reads, none before it may
// have changed.
TEST(Text, ExchangeOfTwoArgumentsStaysOne) {
  const TaskText read = must_read(kPair + "leaf t.swap { old = x  x = y  y = old }\n");
  const TaskText again = must_read(print_tasks(read));
  EXPECT_EQ(read, again) << print_tasks(read);
  const Leaf& leaf = std::get<Leaf>(read.library.tasks[0].variants[0].body);
  ASSERT_EQ(leaf.outputs.size(), 2U);
  EXPECT_EQ(leaf.nodes[leaf.outputs[0].node].argument, "y");
  EXPECT_EQ(leaf.nodes[leaf.outputs[1].node].argument, "x");
}

TEST(Text, OrderOfStatementsCounts) {
  const TaskText a = must_read(kPair + "leaf t.l { x = x + 1  y = x }\n");
  const TaskText b = must_read(kPair + "leaf t.l { y = x  x = x + 1 }\n");
  EXPECT_NE(a, b);
  EXPECT_EQ(a, must_read(print_tasks(a)));
  EXPECT_EQ(b, must_read(print_tasks(b)));
}

TEST(Text, MappingWithEverything) {
  const std::string text = R"(task t(writes x: f32[M])

leaf t.zero {
  x = 0
}

map full for t on h200 {
  A = 3
  B = 8..256 by 8
  C = {1, 5}
  entry top: t.zero at host  D = 4  x: global  calls below, below
  below: t.zero at warpgroup  x: register
  third: t.zero
}
)";
  EXPECT_EQ(print_tasks(must_read(text)), text);
}

struct Wrong {
  const char* name;
  const char* text;
  const char* message;  ///< with its place
};

class WrongText : public testing::TestWithParam<Wrong> {};

TEST_P(WrongText, IsRefusedAtItsPlace) {
  const auto read = read_tasks(GetParam().text, "t.task");
  ASSERT_FALSE(read);
  const std::string said = to_string(read.error());
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
}

const Wrong kWrong[] = {
    {"Empty", "tsk t", "t.task:1:1: error: expected 'task', 'inner', 'leaf' or 'map', not 'tsk'"},
    {"Privilege", "task t(C: f16[M])",
     "t.task:1:8: error: expected 'reads', 'writes' or 'updates'"},
    {"Type", "task t(reads C: f64[M])", "expected 'f16', 'bf16' or 'f32', not 'f64'"},
    {"Character", "task t(reads C: f16[M]) @", "t.task:1:25: error: this character means nothing"},
    {"End", "task t(reads C: f16[M", "not the end"},
    {"NoTask", "task gemm(reads C: f16[M])\ninner gem.x { }", "hint: did you mean 'gemm'?"},
    {"NoValue", "task t(writes C: f16[M])\nleaf t.l { C = D }",
     "t.task:2:16: error: T02: there is no"},
    {"NoFunction", "task t(updates C: f16[M])\nleaf t.l { C = sinh(C) }",
     "T09: there is no function"},
    {"Operands", "task t(updates C: f16[M])\nleaf t.l { C = max(C) }", "T01: 'max' takes 2 values"},
    {"Hole", "map m for t on h200 { U = ? }", "M13: a hole needs the values it may have"},
    {"Level", "map m for t on h200 { a: t.x at warp }", "M05: there is no such level"},
    {"Range", "map m for t on h200 { U = 9..1 }", "is no end of a range"},
    {"Huge", "task t(reads C: f16[99999999999999999999])", "is no whole number of 64 bits"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongText, testing::ValuesIn(kWrong),
                         [](const auto& it) { return std::string(it.param.name); });

// Readers and all behind them walk by recursion.
TEST(Text, DeepNestingIsRefused) {
  const std::string deep(100000, '(');
  EXPECT_FALSE(read_tasks("task t(reads C: f16[" + deep, "t.task"));
  EXPECT_FALSE(read_tasks("task t(updates C: f16[M])\nleaf t.l { C = " + deep, "t.task"));
  std::string sum = "task t(reads C: f16[M";
  for (int i = 0; i < 20000; ++i) sum += " + M";
  EXPECT_FALSE(read_tasks(sum + "])", "t.task"));
}

}  // namespace
}  // namespace twill::tasks
