#include <string>

#include <gtest/gtest.h>

#include "tasks_and_module.h"

// Pranges within a block, and reductions over their iterations.
namespace twill::frontend {
namespace {

/// A product of two matrices, with another variant of the block or of `add` than the bundled
/// program.
std::string product_with(const std::string& variants, const std::string& mapping) {
  return R"(
task t(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task add(updates C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes C: f32[M, N])
task give(writes To: f32[M, N], reads C: f32[M, N])
task rows(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task sum(reduces(+) To: f32[M, N], reads C: f32[M, N])
task part(reduces(+) C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task mask(updates C: f32[M, N], position i)
inner t.host tunable U, V {
  prange i < cdiv(M, U), j < cdiv(N, V) { t(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0]) }
}
)" + variants +
         R"(
inner rows.loop tunable W {
  acc = tensor f32[M, N]
  clear(acc)
  srange k < cdiv(K, W) { add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  give(C, acc)
}
inner part.loop tunable W {
  acc = tensor f32[M, N]
  clear(acc)
  srange k < cdiv(K, W) { add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  sum(C, acc)
}
leaf add.l { C += mma(A, transpose(B)) }
leaf clear.l { C = 0 }
leaf give.l { To = C }
leaf sum.l { To += C }
leaf mask.l { C = select(column(iota(M)) + i >= row(iota(N)), C, -1) }
map m for t { )" +
         mapping + " }\n";
}
/// The same product with a loop of the block over K.
std::string looped_with(const std::string& add_variant, const std::string& mapping,
                        const std::string& behind = "") {
  return product_with(
      "inner t.block tunable W { acc = tensor f32[M, N]  clear(acc)  srange k < cdiv(K, W) { "
      "add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) } " +
          behind + " give(C, acc) }\n" + add_variant,
      mapping);
}

struct SideBySide {
  const char* name;
  std::string text;
};

class LoweredPrange : public testing::TestWithParam<SideBySide> {};

// A prange within a block has the results of its iterations, whatever it cuts.
TEST_P(LoweredPrange, IsItsTasksToTheLastBit) {
  const bool ragged = GetParam().text.find("U = 128") != std::string::npos;
  TasksAndModule(
      {GetParam().text, {{"M", ragged ? 150 : 100}, {"N", 60}, {"K", 64}}, {2, ragged ? 1 : 2, 1}})
      .run();
}

INSTANTIATE_TEST_SUITE_P(
    All, LoweredPrange,
    testing::Values(
        SideBySide{"Columns",
                   looped_with("inner add.v { prange g < 2 { add(blocks(C, M, N / 2)[0, g], A, "
                               "blocks(B, N / 2, K)[g, 0]) } }",
                               "U = 64 V = 32 W = 16")},
        SideBySide{"RowsAndColumns",
                   looped_with("inner add.v { prange g < 2, h < 2 { add(blocks(C, M / 2, N / 2)[g, "
                               "h], blocks(A, M / 2, K)[g, 0], blocks(B, N / 2, K)[h, 0]) } }",
                               "U = 128 V = 64 W = 16")},
        SideBySide{"ColumnsOfRows",
                   looped_with("inner add.v { prange g < 2 { add(blocks(C, M / 2, N)[g, 0], "
                               "blocks(A, M / 2, K)[g, 0], B) } }\n"
                               "inner add.w { prange h < 4 { add(blocks(C, M, N / 4)[0, h], A, "
                               "blocks(B, N / 4, K)[h, 0]) } }",
                               "U = 128 V = 64 W = 16")},
        // Positions of a part continue those of the previous part.
        SideBySide{"Positions",
                   looped_with("inner add.v { prange g < 2 { add(blocks(C, M, N / 2)[0, g], A, "
                               "blocks(B, N / 2, K)[g, 0]) } }",
                               "U = 64 V = 32 W = 16", "mask(acc, 3)")},
        SideBySide{"RowsOfWholeKernels",
                   product_with("inner t.block { prange g < 2 { rows(blocks(C, M / 2, N)[g, 0], "
                                "blocks(A, M / 2, K)[g, 0], B) } }",
                                "U = 128 V = 64 W = 16")},
        SideBySide{"Backwards",
                   product_with("inner t.block { prange g < 2 { rows(blocks(C, M / 2, N)[g, 0], "
                                "blocks(A, M / 2, K)[1 - g, 0], B) } }",
                                "U = 128 V = 64 W = 16")},
        // Two levels of a split along K; the inner level has sums of its own.
        SideBySide{"PartsOfK",
                   [] {
                     std::string text = product_with(
                         "inner t.block { prange g < 2 { part(C, blocks(A, M, K / 2)[0, g], "
                         "blocks(B, N, K / 2)[0, g]) } }",
                         "U = 64 V = 32 W = 16 K = 64");
                     return text.replace(text.find("writes C"), 6, "reduces(+)");
                   }()},
        SideBySide{"ManyIterations",
                   product_with("inner t.block { prange g < M / 64 { rows(blocks(C, 64, N)[g, 0], "
                                "blocks(A, 64, K)[g, 0], B) } }",
                                "U = 64 V = 32 W = 16")},
        SideBySide{"Conditions",
                   product_with("inner t.block { prange g < 2 { if g == 1 { rows(blocks(C, M / 2, "
                                "N)[g, 0], blocks(A, M / 2, K)[g, 0], B) } else { "
                                "rows(blocks(C, M / 2, N)[g, 0], blocks(A, M / 2, K)[1, 0], B) } "
                                "} }",
                                "U = 128 V = 64 W = 16")}),
    [](const auto& it) { return std::string(it.param.name); });

struct RefusedParts {
  const char* name;
  std::string text;
  const char* message;
  int line, column;
};

class RefusedPartsOfTensors : public testing::TestWithParam<RefusedParts> {};

TEST_P(RefusedPartsOfTensors, WithCodeLineAndColumn) {
  const auto& it = GetParam();
  const auto made = lower_task_text({"t.task", it.text});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(it.message), std::string::npos) << to_string(made.error());
  EXPECT_EQ(made.error().location.line, it.line) << to_string(made.error());
  EXPECT_EQ(made.error().location.column, it.column) << to_string(made.error());
  EXPECT_NE(made.error().hint, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedPartsOfTensors,
    testing::Values(
        RefusedParts{"OtherParts",
                     looped_with("inner add.v { prange g < 2 { add(blocks(C, M, N / 2)[0, g], A, "
                                 "blocks(B, N / 2, K)[g, 0]) }\n"
                                 "  prange g < 4 { add(blocks(C, M, N / 4)[0, g], A, "
                                 "blocks(B, N / 4, K)[g, 0]) } }",
                                 "U = 64 V = 32 W = 16"),
                     "M08: blocks(C, M, N / 4)[0, g] is a part of a tensor in registers, which is "
                     "kept in 1 x 2 parts for another task, not in 1 x 4",
                     15, 22},
        RefusedParts{"InOrder",
                     looped_with("inner add.v { srange g < 2 { add(blocks(C, M, N / 2)[0, g], A, "
                                 "blocks(B, N / 2, K)[g, 0]) } }",
                                 "U = 64 V = 32 W = 16"),
                     "M08: blocks(C, M, N / 2)[0, g] is a part of a tensor in registers, whose "
                     "place in it is no number when the kernel is made",
                     14, 34},
        RefusedParts{
            "NeedsAll",
            [] {
              std::string text = looped_with(
                  "inner add.v { prange g < 2 { add(blocks(C, M, N / 2)[0, g], A, "
                  "blocks(B, N / 2, K)[g, 0]) } }",
                  "U = 64 V = 32 W = 16");
              const std::string edge = "blocks(B, V, K)[j, 0]";
              text.replace(text.find(edge), edge.size(), "blocks(B, V, K, exact)[j, 0]");
              const std::string was = "To = C }";
              return text.replace(text.find(was), was.size(), "To = C - column(row_max(C)) }");
            }(),
            "M08: 'give.l' needs 'acc' in one piece, which is kept in 1 x 2 parts", 13, 145}),
    [](const auto& it) { return std::string(it.param.name); });

// Greatest and least element of each row, over several CTAs and over parts of a row.
TEST(LoweredTasks, LargestAndLeast) {
  TasksAndModule({R"(
task t(reduces(max) y: f32[M], reduces(min) z: f32[M], reads A: f16[M, K], reads B: f16[N, K])
task product(writes S: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task fold(reduces(max) y: f32[M], reduces(min) z: f32[M], reads S: f32[M, N])
inner t.host tunable U, V { prange i < cdiv(M, U), j < N / V { t(blocks(y, U)[i], blocks(z, U)[i], blocks(A, U, K)[i, 0], blocks(B, V, K, exact)[j, 0]) } }
inner t.block {
  S = tensor f32[M, N]
  product(S, A, B)
  fold(y, z, S)
}
leaf product.l { S = mma(A, transpose(B)) }
leaf fold.l { y max= row_max(S)  z min= -row_max(-S) }
map m for t { U = 64 V = 16 K = 16 }
)",
                  {{"M", 100}, {"N", 32}, {"K", 16}},
                  {2, 2, 1}})
      .run();
}

// Results that iterations share are reduced in a tensor of the block: sums in order, the maximum at
// once.
TEST(LoweredTasks, IterationsReduceWhatTheyShare) {
  for (const std::string op : {"+", "max"}) {
    TasksAndModule({R"(
task t(writes y: f32[M], reads A: f16[M, K], reads B: f16[N, K])
task product(writes S: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes y: f32[M])
task add(reduces()" + op +
                        R"() y: f32[M], reads S: f32[M, N])
task copy(writes To: f32[M], reads From: f32[M])
inner t.host tunable U { prange i < cdiv(M, U) { t(blocks(y, U)[i], blocks(A, U, K)[i, 0], B) } }
inner t.block {
  S = tensor f32[M, N]
  sum = tensor f32[M]
  product(S, A, B)
  clear(sum)
  prange g < 4 { add(sum, S) }
  copy(y, sum)
}
leaf product.l { S = mma(A, transpose(B)) }
leaf clear.l { y = 0 }
leaf add.l { y )" + op + R"(= row_max(S) }
leaf copy.l { To = From }
map m for t { U = 64 N = 16 K = 16 }
)",
                    {{"M", 100}, {"N", 16}, {"K", 16}},
                    {2, 1, 1}})
        .run();
  }
}

}  // namespace
}  // namespace twill::frontend
