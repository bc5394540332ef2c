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
                                         "dual_gemm.task", "gated_mlp.task", "gemm_rowsum.task",
                                         "gemm_levels.task", "gemm_gelu.task", "cross_entropy.task",
                                         "attention_fa3.task", "batched_gemm.task", "split_k.task",
                                         "conv.task", "attention_causal.task", "gemm_f16.task",
                                         "gemm_i8.task"),
                         [](const auto& it) { return it.param.substr(0, it.param.find('.')); });

const std::string kPair = "task t(updates x: f32[M], updates y: f32[M])\n";

// Prints assignments in the order of the arguments. An assignment must not change a value that a
// later one reads.
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

// `else` is the opposite condition, and is printed as such.
TEST(Text, ElseIsTheOppositeCondition) {
  const TaskText read = must_read(kPair + R"(
inner t.v {
  srange i < 4 {
    if i * 2 < M - 1 { t(x, y) } else { t(y, x) }
    if i == 3 { t(x, y) }
  }
}
)");
  const std::string printed = print_tasks(read);
  EXPECT_NE(printed.find("if i * 2 >= M - 1 {"), std::string::npos) << printed;
  EXPECT_EQ(must_read(printed), read);
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
  D = ?
  depth = 2..4 by 1
  specialize
  limit shared = 160 KiB
  entry top: t.zero at host  D = 4  x: shared swizzle 64  depth = 3  specialize = no  calls below, below
  below: t.zero at warpgroup  x: register  depth = ?
  third: t.zero
}

map empty for t {
}
)";
  EXPECT_EQ(print_tasks(must_read(text)), text);
}

// A split equals its long form, a prange, and a slice equals a window, also in the text.
TEST(Text, SplitsAndSlices) {
  const std::string signature =
      "task gemm(updates C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K], reads m: f32[N])\n";
  const auto read = must_read(signature + R"(
inner gemm.host = split M by U, N by 32
inner gemm.groups = split M into G
inner gemm.columns = split N into K
inner gemm.upper { gemm(slice(C, 64, N from 8 * K, 0), slice(A, 64, K from 0, 0, exact), B, m) }
)");
  EXPECT_EQ(read, must_read(signature + R"(
inner gemm.host tunable U {
  prange m_ < cdiv(M, U), n < cdiv(N, 32) {
    gemm(blocks(C, U, 32)[m_, n], blocks(A, U, K)[m_, 0], blocks(B, 32, K)[n, 0], blocks(m, 32)[n])
  }
}
inner gemm.groups tunable G {
  prange m_ < G { gemm(blocks(C, M / G, N)[m_, 0], blocks(A, M / G, K)[m_, 0], B, m) }
}
inner gemm.columns {
  prange n < K {
    gemm(blocks(C, M, N / K)[0, n], A, blocks(B, N / K, K)[n, 0], blocks(m, N / K)[n])
  }
}
inner gemm.upper {
  gemm(windows(C, 64, N by 1, 1)[8 * K, 0], windows(A, 64, K by 1, 1, exact)[0, 0], B, m)
}
)"));
  EXPECT_EQ(read, must_read(print_tasks(read)));
}

// An open value counts as a missing value.
TEST(Text, OpenIsNotStated) {
  const auto open = must_read("map m for t { a: t.x at ?  C: ?  specialize = ? }");
  EXPECT_EQ(open, must_read("map m for t { a: t.x }"));
}

// An instance and a tunable may have names that are words of mappings.
TEST(Text, WordsOfMappingsAsNames) {
  const auto read = must_read("map m for t { limit: t.x limit = 3 specialize: t.x depth: t.y }");
  ASSERT_EQ(read.mappings.at(0).instances.size(), 3U);
  EXPECT_EQ(read.mappings[0].instances[0].tunables.at(0).tunable, "limit");
  EXPECT_EQ(read, must_read(print_tasks(read)));
}

TEST(Text, MapFilesHaveMappingsAlone) {
  const auto read = read_mappings("map a for t { U = 1 }  # first\nmap b for t { }", "a.map");
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(*read_mappings(print_mappings(*read), "a.map"), *read);
  const auto task = read_mappings("map a for t { }\ntask t(reads x: f16[M])", "a.map");
  ASSERT_FALSE(task);
  EXPECT_NE(to_string(task.error()).find("a.map:2:1: error: expected 'map'"), std::string::npos);
  EXPECT_FALSE(read_mappings("", "a.map"));
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
    {"Empty", "tsk t",
     "t.task:1:1: error: expected 'task', 'inner', 'leaf', 'external' or 'map', not 'tsk'"},
    {"Privilege", "task t(C: f16[M])",
     "t.task:1:8: error: expected 'reads', 'writes', 'updates' or 'reduces(+)'"},
    {"Reduction", "task t(reduces(*) C: f16[M])",
     "t.task:1:16: error: expected '+', 'max' or 'min', not '*': there are atomics for sums, the "
     "largest and the least"},
    {"Fill", "task t(writes C: f16[M])\ninner t.v { t(blocks(C, 4, fill(x))[0]) }",
     "t.task:2:33: error: expected a number or 'inf', not 'x'"},
    {"NoComparison", "task t(updates C: f16[M])\ninner t.v { if M { t(C) } }",
     "t.task:2:18: error: expected a comparison of sizes, not '{'"},
    {"Blocks", "task t(updates C: f16[M])\ninner t.v { t(blocks(C, 4 every 2)[0]) }",
     "t.task:2:27: error: blocks lie side by side: windows have steps"},
    {"Windows", "task t(updates C: f16[M])\ninner t.v { t(windows(C, 4)[0]) }",
     "t.task:2:27: error: expected 'by' and the steps of the windows"},
    {"SplitOfWhat", "task t(updates C: f16[M])\ninner t.v = split K by 4",
     "t.task:2:19: error: T02: there is no size 'K' in the signature of 't'"},
    {"SplitTwice", "task t(updates C: f16[M])\ninner t.v = split M by 4, M into 2",
     "t.task:2:27: error: T02: 'M' is split twice"},
    {"SplitOfPositions", "task t(updates C: f16[M], position i)\ninner t.v = split M by 4",
     "t.task:2:7: error: T01: 'split' of 't', which takes the position 'i'"},
    {"SplitHow", "task t(updates C: f16[M])\ninner t.v = split M in 4",
     "t.task:2:21: error: expected 'by' and a part's length"},
    {"SplitByNothing", "task t(updates C: f16[M])\ninner t.v = split M into 0",
     "t.task:2:26: error: parts have a length"},
    {"Slice", "task t(updates C: f16[M])\ninner t.v { t(slice(C, 4)) }",
     "expected 'from', not ')'"},
    {"Dimension", "task t(updates C: f16[M])\ninner t.v { t(pick(C, 0, 99)) }",
     "t.task:2:26: error: is no dimension"},
    {"Positions", "task t(position i, reads C: f16[M])",
     "t.task:1:20: error: expected 'position', as positions come behind all tensors"},
    {"Type", "task t(reads C: f64[M])",
     "expected 'f16', 'bf16', 'f32', 'f8e4m3', 'f8e5m2', 'i8' or 'i32', not 'f64'"},
    {"Character", "task t(reads C: f16[M]) @", "t.task:1:25: error: this character means nothing"},
    {"End", "task t(reads C: f16[M", "not the end"},
    {"NoTask", "task gemm(reads C: f16[M])\ninner gem.x { }", "hint: did you mean 'gemm'?"},
    {"NoValue", "task t(writes C: f16[M])\nleaf t.l { C = D }",
     "t.task:2:16: error: T02: there is no"},
    {"NoFunction", "task t(updates C: f16[M])\nleaf t.l { C = sinh(C) }",
     "T09: there is no function"},
    {"Operands", "task t(updates C: f16[M])\nleaf t.l { C = max(C) }", "T01: 'max' takes 2 values"},
    {"Operand", "task t(updates C: f16[M])\nleaf t.l { C = exp(C, 1) }",
     "T01: 'exp' takes 1 value, not 2"},
    {"OperandsOfMma", "task t(updates C: f16[M])\nleaf t.l { C = mma(C) }",
     "T01: 'mma' takes 2 or 3 values, not 1"},
    {"Computes", "task t(updates C: f16[M])\ninner t.v { C = 0 }",
     "t.task:2:13: error: T09: an inner variant makes tensors and launches tasks, and computes"},
    {"Launches", "task t(updates C: f16[M])\nleaf t.l { t(C) }",
     "t.task:2:12: error: T09: a leaf computes, and launches nothing"},
    {"Limit", "map m for t { limit shared = 0 }", "t.task:1:30: error: M07: is no size"},
    {"LimitOf", "map m for t { limit tensor = 1 KiB }", "expected 'shared', not 'tensor'"},
    {"Twice", "map m for t { depth = 2 depth = 3 }", "t.task:1:25: error: M03: 'depth' is stated"},
    {"Specialize", "map m for t { specialize = 3 }", "expected 'yes', 'no' or '?', not '3'"},
    {"Level", "map m for t on h200 { a: t.x at lane }", "M05: there is no such level"},
    {"Range", "map m for t on h200 { U = 9..1 }", "is no end of a range"},
    {"Huge", "task t(reads C: f16[99999999999999999999])", "is no whole number of 64 bits"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongText, testing::ValuesIn(kWrong),
                         [](const auto& it) { return std::string(it.param.name); });

// Readers and all later steps walk by recursion.
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
