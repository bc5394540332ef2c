#include "programs.h"
#include "twill/tasks/leaf.h"

namespace twill::tasks {
namespace {

/// Tasks that the programs below launch.
const std::string kTasks = R"(
task fill(writes C: f16[M])
task bump(updates C: f16[M])
task copy(writes To: f16[M], reads From: f16[M])
task wide(reads X: f32[M])
leaf fill.l { C = 0 }
leaf bump.l { C = C + 1 }
leaf copy.l { To = From }
task sum(reduces(+) C: f16[M])
task add(reduces(+) C: f32[M])
task most(reduces(max) C: f32[M])
task shift(updates C: f16[M], position by)
leaf sum.l { C += 1 }
task tile(updates C: f32[M, N])
leaf tile.l { C = C + 1 }
leaf shift.l { C = select(iota(M) < by, 0, C) }
)";

struct LanguageCase {
  const char* name;
  const char* text;
  const char* message;
};

class Refused : public testing::TestWithParam<LanguageCase> {};

// Each code of the language, at its line and column: after the @.
TEST_P(Refused, WithItsCode) {
  const auto [text, line, column] = marked(kTasks + GetParam().text);
  const TaskText read = must_read(text);
  const auto checked = check(read.library);
  ASSERT_FALSE(checked);
  const std::string said = to_string(checked.error());
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
  EXPECT_EQ(checked.error().location.line, line) << said;
  EXPECT_EQ(checked.error().location.column, column) << said;
  EXPECT_NE(checked.error().hint, "") << said;
}

const LanguageCase kRefused[] = {
    {"T01", "task t(updates C: f16[M])\ninner t.v { @copy(C) }",
     "T01: 'copy' takes 2 tensors, not 1"},
    {"T02Tensor", "task t(updates C: f16[M])\ninner t.v { bump(@D) }",
     "T02: there is no tensor 'D'"},
    {"T02Variant", "task t(updates C: f16[M])\nleaf t.v { C = 1 }\nleaf @t.v { C = 2 }",
     "T02: 't' has two variants 'v'"},
    {"T02Index", "task t(updates C: f16[M])\ninner t.v { @srange M < 4 { bump(C) } }",
     "T02: the name 'M' is taken already"},
    {"T03Rank", "task t(updates C: f16[M, N])\ninner t.v { bump(@C) }",
     "T03: 'C' of 'bump' is [M], and C is [M, N]"},
    {"T03Size", "task t(updates C: f16[M], reads A: f16[N])\ninner t.v { copy(C, @A) }",
     "T03: 'From' of 'copy' is [M], and A is [N]"},
    {"T03Blocks", "task t(updates C: f16[M])\ninner t.v { bump(@blocks(C, 4, 4)[0]) }",
     "T03: blocks [4, 4] at [0] of a tensor of shape [M]"},
    {"T03Product",
     "task t(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])\n"
     "leaf t.v { C = @mma(A, B) }",
     "T03: 'mma' of f16[M, K] and f16[N, K]; it takes [M, K] and [K, N]"},
    {"T04", "task t(updates C: f16[M])\ninner t.v { wide(@C) }",
     "T04: 'X' of 'wide' is f32, and 'C' is f16"},
    {"T04Leaf", "task t(writes C: f16[M], reads A: f32[M])\nleaf t.v { @C = A }",
     "hint: use cast(f16, x)"},
    {"T05Read", "task t(reads C: f16[M])\ninner t.v { @bump(C) }",
     "T05: 'bump' updates 'C', but 't' only reads 'C'"},
    {"T05Write", "task t(writes C: f16[M])\ninner t.v { @bump(C) }",
     "T05: 'bump' updates 'C', but 't' only writes 'C'"},
    {"T05Leaf", "task t(writes C: f16[M])\nleaf t.v { C = @C + 1 }", "T05: the leaf reads 'C'"},
    {"T06", "task t(writes C: f16[M])\ninner t.v { a = tensor f16[M]\n @copy(C, a) }",
     "T06: 'copy' reads 'From', and 'a' was not written before"},
    {"T07Same", "task t(updates C: f16[M])\ninner t.v { prange i < 4 { @bump(C) } }",
     "T07: iterations i = 0 and i = 1 of the prange write the same part of 'C': C does not depend "
     "on "
     "i"},
    {"T07Twice", "task t(updates C: f16[M])\ninner t.v { @copy(C, C) }",
     "T07: 'copy' gets 'C' twice, and writes it as 'To'"},
    {"T08", "task t(updates C: f16[M])\ninner t.v { prange i < 8 { @bump(blocks(C, 4)[i / 2]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    {"T08Pair",
     "task t(updates C: f16[M], writes D: f16[M])\n"
     "inner t.v { fill(D) prange i < 8 { bump(blocks(C, 4)[i])\n"
     "@copy(blocks(D, 4)[i], blocks(C, 4)[i + 1]) } }",
     "T08: iterations of the prange may touch what others write"},
    {"T07Reduced",
     "task t(updates C: f16[M])\ninner t.v { prange i < 4 { @sum(C) bump(blocks(C, 4)[i]) } }",
     "T07: iterations i = 0 and i = 1 of the prange write the same part of 'C': C does not depend "
     "on "
     "i"},
    {"T08Windows",
     "task t(updates C: f16[M])\ninner t.v { prange i < 4 { @bump(windows(C, 4 by 2)[i]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    {"T08WindowsApart",
     "task t(updates C: f16[M])\n"
     "inner t.v { prange i < 4 { @bump(windows(C, 4 by 6 every 3)[i]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    {"T07Difference",
     "task t(updates C: f16[M])\n"
     "inner t.v { prange i < 4, j < 4 { @bump(blocks(C, 8)[i - j + 3]) } }",
     "T07: iterations i = 0, j = 0 and i = 1, j = 1 of the prange write the same part of 'C': "
     "blocks(C, 8)[i - j + 3] is the same in both"},
    {"T07Digits",
     "task t(updates C: f16[M])\n"
     "inner t.v { prange i < 4, j < 3 { @bump(blocks(C, 8)[2 * i + j]) } }",
     "T07: iterations i = 0, j = 2 and i = 1, j = 0 of the prange write"},
    {"T08Factor",
     "task t(updates C: f16[M])\n"
     "inner t.v tunable U { prange i < 4 { @bump(blocks(C, 8)[i * U]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    // Windows that share elements, and blocks of such windows with common elements.
    {"T08BlocksOfWindows",
     "task t(updates C: f16[M])\n"
     "inner t.v { prange i < 4 { @bump(blocks(windows(C, 8 by 2)[3 - i], 2)[i]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    {"T07OtherReduction",
     "task t(updates C: f32[M])\ninner t.v { prange i < 4 { @add(C) most(C) } }",
     "T07: iterations i = 0 and i = 1 of the prange write the same part of 'C'"},
    {"T05OtherReduction", "task t(reduces(+) C: f32[M])\ninner t.v { @most(C) }",
     "T05: 'most' reduces(max) 'C', but 't' only reduces(+) 'C'"},
    {"T05OtherAssignment", "task t(reduces(min) C: f32[M])\nleaf t.l { @C += 1 }",
     "hint: write C min= ..."},
    {"T04Reduction", "task t(@reduces(max) C: f16[M])\nleaf t.l { C max= 1 }",
     "T04: reduces(max) of f16"},
    {"T13Every", "task t(updates C: f16[M])\ninner t.v { bump(@windows(C, 4 by 8 every 0)[0]) }",
     "T13: elements of windows are one apart or more, not 0"},
    {"T05Reduces", "task t(reduces(+) C: f16[M])\ninner t.v { @bump(C) }",
     "T05: 'bump' updates 'C', but 't' only reduces(+) 'C'"},
    {"T12Clipped", "task t(updates C: f16[M])\ninner t.v { bump(@blocks(C, M, clip)[0]) }",
     "T12: 'bump' reads 'C', of which blocks that are clipped have nothing beyond the edge"},
    {"T05Fresh", "task t(writes C: f16[M])\ninner t.v { @sum(C) }",
     "T05: 'sum' reduces(+) 'C', but 't' only writes 'C'"},
    {"T05Replaces", "task t(reduces(+) C: f16[M])\nleaf t.l { @C = 1 }",
     "T05: the leaf does something else to 'C' than 'reduces(+)' of 't'"},
    {"T05ReadsSum", "task t(reduces(+) C: f16[M])\nleaf t.l { C += @C }",
     "T05: the leaf reads 'C', which 't' only reduces"},
    {"T06Sum", "task t(updates C: f16[M])\ninner t.v { a = tensor f16[M]\n @sum(a) }",
     "T06: 'sum' reduces(+) 'C', and 'a' was not written before"},
    {"T03Pick", "task t(updates C: f16[M])\ninner t.v { bump(@pick(C, 0)) }",
     "T03: a pick in dimension 0 of a tensor of shape [M]"},
    {"T03Windows", "task t(updates C: f16[M])\ninner t.v { bump(@windows(C, 4 by 2, 2)[0]) }",
     "T03: windows [4] by [2, 2] at [0] of a tensor of shape [M]"},
    {"T03WindowsApart",
     "task t(updates C: f16[M])\ninner t.v { bump(@windows(C, 4 by 2 every 2, 1)[0]) }",
     "T03: windows [4] by [2] every [2, 1] at [0] of a tensor of shape [M]"},
    {"T03Mma", "task t(updates C: f16[M])\ninner t.v { bump(@mma(C, c, warp, 64, 8, 16)[0]) }",
     "T03: parts by 'mma' of a tensor of shape [M]"},
    {"T08Mma",
     "task t(updates C: f32[M, N])\n"
     "inner t.v { prange t < 32 { @tile(mma(C, a, thread, 64, 8, 16)[t]) } }",
     "T08: iterations of the prange may write the same part of 'C'"},
    {"T01Positions", "task t(updates C: f16[M])\ninner t.v { @shift(C) }",
     "T01: 'shift' takes 1 positions, not 0"},
    {"T02Position", "task @t(updates C: f16[M], position M)", "T02: the name 'M' is taken already"},
    {"T04Condition", "task t(updates C: f16[M])\nleaf t.l { C = @select(C, C, 0) }",
     "T04: 'select' by f16[M], which is no condition"},
    {"T04Whole", "task t(updates C: f16[M])\nleaf t.l { C = select(iota(M) < @0.5, C, 0) }",
     "T04: '<' of whole numbers and a number that is none, or too large"},
    {"T04RoundsToInteger",
     "task t(updates C: i32[M], reads x: f32[M])\nleaf t.l { C = @cast(i32, x) }",
     "T04: 'cast' of f32[M] to i32: leaves round to no integers"},
    {"T04NotWhole", "task t(writes C: i8[M])\nleaf t.l { @C = 1.5 }",
     "T04: 'C' is i8, and the number"},
    {"T04TooLarge", "task t(writes C: i8[M])\nleaf t.l { @C = 128 }",
     "T04: 'C' is i8, and the number"},
    {"T04Divided", "task t(updates C: i32[M])\nleaf t.l { C = C @/ 2 }", "T04: '/' of i32[M]"},
    {"T04SumsOfIntegers",
     "task t(updates C: f32[M, N], reads A: i8[M, K], reads B: i8[K, N])\n"
     "leaf t.l { C += @mma(A, B) }",
     "T04: 'mma' of i8 adds up in i32, not onto f32[M, N]"},
    {"T04SumsOnto",
     "task t(updates C: f16[M, N], reads A: bf16[M, K], reads B: bf16[K, N])\n"
     "leaf t.l { C += @mma(A, B) }",
     "T04: 'mma' of bf16 adds up in f32, not onto f16[M, N]"},
    {"T04SumsOntoNumber",
     "task t(writes C: i32[M, N], reads A: i8[M, K], reads B: i8[K, N])\n"
     "leaf t.l { C = @mma(A, B, 0.5) }",
     "T04: 'mma' of i8 adds up in i32, not onto a number"},
    {"T04Int32Operands",
     "task t(writes C: i32[M, N], reads A: i32[M, K], reads B: i32[K, N])\n"
     "leaf t.l { C = @mma(A, B) }",
     "it takes f16, bf16 or numbers of 8 bits, of both the same"},
    {"T04ReductionOfBytes", "task t(@reduces(+) C: i8[M])\nleaf t.l { C += 1 }",
     "T04: reduces(+) of i8"},
    {"T04Types", "task t(updates C: f16[M])\nleaf t.l { C = C @+ iota(M) }",
     "T04: '+' of f16[M] and i32[M]"},
    {"T13Iota", "task t(updates C: f16[M])\nleaf t.l { C = select(@iota(W) < 1, C, 0) }",
     "T13: there is no size 'W' in the signature of 't'"},
    {"T09", "task t(updates C: f16[M])\ninner t.v { @bumb(C) }", "did you mean 'bump'?"},
    {"T13", "task t(updates C: f16[M])\ninner t.v { bump(@blocks(C, W)[0]) }",
     "T13: there is no size 'W' here"},
    {"T13Condition", "task t(updates C: f16[M])\ninner t.v { @if W < 1 { bump(C) } }",
     "T13: there is no size 'W' here"},
    {"T14Inner", "task t(writes C: f16[M])\ninner @t.v { a = tensor f16[M]\n fill(a) }",
     "T14: 't' writes 'C', but 't.v' launches nothing that does"},
    {"T14Leaf", "task t(writes C: f16[M], writes D: f16[M])\nleaf @t.v { C = 0 }",
     "T14: 't' writes 'D', but 't.v' assigns nothing to it"},
};

INSTANTIATE_TEST_SUITE_P(All, Refused, testing::ValuesIn(kRefused),
                         [](const auto& it) { return std::string(it.param.name); });

const std::string kGelu = R"(
task gelu(writes Y: f16[M, N], reads X: f32[M, N], reads b: f32[N], updates m: f32[M])
task sum(writes y: f32[M], reads X: f32[M, N])
leaf sum.l { y = row_sum(X) }
)";

// T15: a leaf in front of a user's function states the function's meaning, element by element.
TEST(External, NeedsAMeaning) {
  const auto no_leaf =
      read_tasks(kGelu + "external sum.fast means exact calls f \"\"\" \"\"\"", "t.task");
  ASSERT_FALSE(no_leaf);
  EXPECT_EQ(no_leaf.error().location.line, 5);
  EXPECT_EQ(no_leaf.error().location.column, 25);
  EXPECT_NE(no_leaf.error().message.find("T15: 'sum' has no leaf 'exact' before this line"),
            std::string::npos);
  const auto reduces =
      check(must_read(kGelu + "external sum.fast means l calls f \"\"\" \"\"\"").library);
  ASSERT_FALSE(reduces);
  EXPECT_EQ(reduces.error().location.line, 5);
  EXPECT_EQ(reduces.error().location.column, 25);
  EXPECT_NE(reduces.error().message.find("T15: a function of single elements cannot do what 'sum' "
                                         "means: it has a row_sum"),
            std::string::npos)
      << reduces.error().message;
  const auto two = check(must_read(kGelu + "leaf gelu.l { Y = cast(f16, X)  m = m + 1 }\n"
                                           "external gelu.fast means l calls f \"\"\" \"\"\"")
                             .library);
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("it has several results"), std::string::npos);
}

// The text of a function stays unchanged, and its meaning is the leaf's.
TEST(External, IsItsMeaning) {
  const std::string text =
      "task gelu(writes Y: f16[M, N], reads X: f32[M, N], reads b: f32[N])\n"
      "\nleaf gelu.exact {\n  Y = cast(f16, max(X + row(b), 0))\n}\n"
      "\nexternal gelu.fast means exact calls mine::gelu \"\"\"\n"
      "namespace mine { __device__ float gelu(float x, float b) { return fmaxf(x + b, 0.f); } }\n"
      "\"\"\"\n";
  const TaskText read = must_read(text);
  EXPECT_EQ(print_tasks(read), text);
  const TaskValue& task = read.library.tasks[0];
  const Leaf& fast = std::get<Leaf>(find_variant(task, "fast")->body);
  EXPECT_EQ(fast.nodes, std::get<Leaf>(find_variant(task, "exact")->body).nodes);
  const auto arguments = element_arguments(task, fast);
  ASSERT_TRUE(arguments) << to_string(arguments.error());
  ASSERT_EQ(arguments->size(), 2U);
  EXPECT_EQ((*arguments)[0].name, "X");
  EXPECT_EQ(fast.nodes[(*arguments)[1].node].function, Function::row);
  EXPECT_TRUE(check(read.library));
}

// Correct programs must not be refused.
TEST(Check, AcceptsBlocksThatIndicesTellApart) {
  const TaskText read = must_read(kTasks + R"(
task t(updates C: f16[M], writes D: f16[M], updates S: f32[M, N], updates S16: f16[N, M], updates L: f32[M])
inner t.v tunable U {
  prange i < cdiv(M, U) {
    own = tensor f16[U]
    fill(own)
    bump(blocks(C, U)[i])
    copy(blocks(D, U)[i], blocks(C, U)[i])
  }
  prange i < 4 { bump(blocks(C, 8)[i + 2]) }
  prange i < 4 { sum(C) sum(blocks(C, 8)[i / 2]) }
  prange i < 4 { bump(blocks(C, 8)[2 * i + 1]) }
  prange i < 4 { bump(blocks(C, 8)[7 - i]) }
  prange i < 4, j < 4 { bump(blocks(C, 8)[i * 4 + j]) }
  prange i < 4, j < 4 { bump(blocks(C, 8)[j * 5 + i]) }
  prange i < M / 8 / U, j < U { bump(blocks(C, 8)[i * U + j]) }
  prange i < 4, j < 4 { bump(blocks(pick(S16, i + j), 8)[j]) }
  prange i < 4, j < 4 { bump(blocks(pick(S16, i + j), 8)[i - j + 3]) }
  prange i < 4, j < 1 { bump(blocks(C, 8)[i]) }
  prange i < 4 { most(L) most(blocks(L, 8)[i / 2]) }
  prange i < 4 { bump(windows(C, 4 by 8)[i]) }
  prange i < 4 { bump(windows(C, 4 by 8 every 2)[i]) }
  prange i < 4 { bump(windows(C, 4 by 5 every 4)[i]) }
  prange i < 4 { bump(windows(C, U by U * 2 every 2)[i]) }
  prange w < 4 { tile(mma(S, c, warp, 64, 8, 16)[w]) }
  prange t < 32 { tile(mma(S, c, thread, 64, 8, 16)[t]) }
}
)");
  const auto checked = check(read.library);
  EXPECT_TRUE(checked) << to_string(checked.error());
}

}  // namespace
}  // namespace twill::tasks
