#include "twill/tasks/divisions.h"

#include "programs.h"

namespace twill::tasks {
namespace {

constexpr const char* kProgram = R"(
task g(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task part(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K], position i)
task add(updates C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes C: f32[M, N])
task copy(writes To: f32[M, N], reads From: f32[M, N])
inner g.host tunable U, V {
  prange i < cdiv(M, U), j < cdiv(N, V) {
    part(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0], i)
  }
}
inner part.block tunable W {
  acc = tensor f32[M, N]
  clear(acc)
  srange k < cdiv(K, W) { add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  copy(C, acc)
}
inner add.rows = split M into 2
leaf add.l { C += mma(A, transpose(B)) }
leaf clear.l { C = 0 }
leaf copy.l { To = From }
map m for g { U = 128  V = 64  W = 32 }
)";

struct DivisionsCase {
  const char* name;
  const char* from;
  const char* to;        ///< with an @ where the failure is
  const char* map;       ///< statements that the mapping has, too
  const char* expected;  ///< message; empty: none
};

class Divisions : public testing::TestWithParam<DivisionsCase> {};

TEST_P(Divisions, OfNumbersThatTheMappingHas) {
  const DivisionsCase& it = GetParam();
  std::string text = kProgram;
  const std::size_t at = text.find(it.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(it.from).size(), it.to);
  text.replace(text.find("U = 128"), 7, std::string(it.map) + " U = 128");
  const Marked place = text.find('@') == std::string::npos ? Marked{text} : marked(text);
  const TaskText read = must_read(place.text);
  ASSERT_TRUE(check(read.library));
  const auto tree = instantiate(read.library, read.mappings[0]);
  ASSERT_TRUE(tree) << to_string(tree.error());
  const auto checked = check_divisions(*tree);
  if (std::string(it.expected).empty()) {
    EXPECT_TRUE(checked) << to_string(checked.error());
    return;
  }
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, std::string("T11: ") + it.expected);
  EXPECT_EQ(checked.error().location.line, place.line);
  EXPECT_EQ(checked.error().location.column, place.column);
}

INSTANTIATE_TEST_SUITE_P(
    All, Divisions,
    testing::Values(
        DivisionsCase{"Split", "inner add.rows = split M into 2",
                      "inner @add.rows = split M into 3", "",
                      "M / 3: cannot divide 128 by 3 without a remainder"},
        DivisionsCase{"Iterations", "srange k < cdiv(K, W)", "@srange k < K / W", "K = 100",
                      "K / W: cannot divide 100 by 32 without a remainder"},
        DivisionsCase{"IterationsOfAnyNumber", "srange k < cdiv(K, W)", "srange k < K / W", "", ""},
        DivisionsCase{"Exact", "blocks(A, M, W)[0, k]", "@blocks(A, M, W, exact)[0, k]", "K = 100",
                      "blocks of 32 do not divide the 100 of 'A'"},
        DivisionsCase{"ExactOfAnyNumber", "blocks(A, M, W)[0, k]", "blocks(A, M, W, exact)[0, k]",
                      "", ""},
        DivisionsCase{"CutAtTheEdge", "acc = tensor", "acc = tensor", "K = 100", ""},
        DivisionsCase{"Shape", "acc = tensor f32[M, N]",
                      "acc = tensor f32[M, N]  @x = tensor f32[M, N / 3]", "",
                      "N / 3: cannot divide 64 by 3 without a remainder"},
        DivisionsCase{"Position", "[j, 0], i)", "[j, 0], i + K / 3)", "K = 96", ""},
        DivisionsCase{
            "PositionWithRemainder",
            "part(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0], i)",
            "@part(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0], i + K / 3)",
            "K = 100", "i + K / 3: cannot divide 100 by 3 without a remainder"},
        DivisionsCase{"NeverCarriedOut", "  copy(C, acc)\n",
                      "  if W < 16 { srange k < W / 5 { clear(acc) } }\n  copy(C, acc)\n", "", ""},
        DivisionsCase{"CarriedOut", "  copy(C, acc)\n",
                      "  if W > 16 { @srange k < W / 5 { clear(acc) } }\n  copy(C, acc)\n", "",
                      "W / 5: cannot divide 32 by 5 without a remainder"}),
    [](const auto& it) { return std::string(it.param.name); });

/// Each task hands on a size that names the one before twice. The check takes no time that doubles.
TEST(DivisionsOfChains, TakeNoTimeThatDoubles) {
  constexpr int kLength = 60;
  std::string text = "task g(writes C: f32[M, N], reads A: f32[M, N])\n";
  std::string bodies = "inner g.a { prange i < 4 { t0(C, A, i) } }\n";
  for (int i = 0; i <= kLength; ++i) {
    const std::string name = "t" + std::to_string(i), next = "t" + std::to_string(i + 1);
    text += "task " + name + "(writes C: f32[M, N], reads A: f32[M, N], position p)\n";
    bodies += i < kLength ? "inner " + name + ".a { " + next + "(C, A, p * p + p) }\n"
                          : "leaf " + name + ".l { C = A }\n";
  }
  const TaskText read = must_read(text + bodies + "map m for g {}\n");
  const auto tree = instantiate(read.library, read.mappings[0]);
  ASSERT_TRUE(tree) << to_string(tree.error());
  EXPECT_TRUE(check_divisions(*tree));
}

}  // namespace
}  // namespace twill::tasks
