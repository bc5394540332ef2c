#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "../tasks/random_kernel.h"
#include "tasks_and_module.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/frontend/tasks/stated.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/tasks/check.h"

namespace twill::frontend {
namespace {

std::string bundled_tasks(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/kernels/tasks/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string gemm_tasks(const std::string& mapping) {
  const std::string text = bundled_tasks("gemm.task");
  return text.substr(0, text.find("map fast")) + "map m for gemm on h200 { " + mapping + " }";
}
std::string attention_tasks(const std::string& mapping) {
  const std::string text = bundled_tasks("attention.task");
  return text.substr(0, text.find("map fast")) + "map m for attention on h200 { " + mapping + " }";
}

// A lowered module computes the same bits as its tasks, also at ragged ends.
TEST(LoweredTasks, GemmIsItsTasksToTheLastBit) {
  TasksAndModule(
      {gemm_tasks("U = 64 V = 16 W = 16"), {{"M", 100}, {"N", 40}, {"K", 70}}, {2, 3, 1}})
      .run();
}

TEST(LoweredTasks, GemmWithoutIterations) {
  TasksAndModule({gemm_tasks("U = 64 V = 16 W = 16"), {{"M", 64}, {"N", 16}, {"K", 0}}, {1, 1, 1}})
      .run();
}

TEST(LoweredTasks, AttentionIsItsTasksToTheLastBit) {
  TasksAndModule(
      {attention_tasks("BM = 64 BN = 32 D = 64"), {{"M", 100}, {"N", 96}, {"D", 64}}, {2, 1, 1}})
      .run();
}

// The pipeline of FlashAttention 3 written by hand: a product before the loop, and another after
// it.
TEST(LoweredTasks, ShiftedAttentionIsItsTasksToTheLastBit) {
  const std::string text = bundled_tasks("attention_fa3.task");
  TasksAndModule({text.substr(0, text.find("map printed")) +
                      "map m for attention on h200 { BM = 64 BN = 32 D = 64 }",
                  {{"M", 100}, {"N", 96}, {"D", 64}},
                  {2, 1, 1}})
      .run();
}

TEST(LoweredTasks, GatedProductsAreTheirTasksToTheLastBit) {
  const std::string text = bundled_tasks("gated_mlp.task");
  TasksAndModule(
      {text.substr(0, text.find("map fast")) + "map m for gated on h200 { U = 64 V = 16 W = 16 }",
       {{"M", 70}, {"N", 24}, {"K", 40}},
       {2, 2, 1}})
      .run();
}

TEST(LoweredTasks, TwoProductsOfOneBlockAreTheirTasksToTheLastBit) {
  const std::string text = bundled_tasks("dual_gemm.task");
  TasksAndModule(
      {text.substr(0, text.find("map fast")) + "map m for dual on h200 { U = 64 V = 16 W = 16 }",
       {{"M", 70}, {"N", 24}, {"K", 40}},
       {2, 2, 1}})
      .run();
}

std::string with_mapping(const std::string& name, const std::string& mapping) {
  const std::string text = bundled_tasks(name);
  return text.substr(0, text.rfind("map ")) + mapping;
}

/// Attention with any number of keys: `edge` is for K, with the fill that masks S.
std::string ragged_keys(const std::string& edge) {
  std::string text = attention_tasks("BM = 64 BN = 32 D = 64");
  for (const char* name : {"blocks(K, BN, D, exact)", "blocks(V, BN, D, exact)"}) {
    const std::size_t at = text.find(name);
    text.replace(at + std::string(name).size() - 6, 5, edge);
  }
  text.replace(text.find("N / BN"), 6, "cdiv(N, BN)");
  return text;
}

// Protects: products have zeros beyond the edge, and another request is refused with a message.
TEST(LoweredTasks, ProductsAreNotFilled) {
  const auto made = lower_task_text({"t.task", ragged_keys("fill(1)")});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("M09: the tile 'K' of a product is copied to shared memory "
                                      "with zeros beyond its edge, not with 1"),
            std::string::npos)
      << made.error().message;
}

/// A product with a bias tile under that edge, added before the columns are reduced, and a loop of
/// known length within the main loop.
std::string filled_bias(const std::string& edge, const std::string& inner) {
  return R"(
task t(writes y: f32[M], reads A: f16[M, K], reads B: f16[N, K], reads X: f32[M, L])
task begin(writes acc: f32[M, N], writes top: f32[M])
task add(updates acc: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task most(updates top: f32[M], reads X: f32[M, L])
task give(writes y: f32[M], reads top: f32[M], reads acc: f32[M, N])
inner t.host { prange i < cdiv(M, 64) { t(blocks(y, 64)[i], blocks(A, 64, K)[i, 0], B, blocks(X, 64, L, )" +
         edge + R"()[i, 0]) } }
inner t.block {
  acc = tensor f32[M, N]
  top = tensor f32[M]
  begin(acc, top)
  srange k < cdiv(K, 16) {
    add(acc, blocks(A, M, 16)[0, k], blocks(B, N, 16)[0, k])
    )" + inner +
         " { most(top, blocks(X, M, 32, " + edge + R"()[0, k]) }
  }
  give(y, top, acc)
}
leaf begin.l { acc = 0  top = -inf }
leaf add.l { acc += mma(A, transpose(B)) }
leaf most.l { top = max(top * 1.5, row_max(X)) }
leaf give.l { y = top + row_sum(acc) }
map m for t { N = 16 }
)";
}

// Protects: a tile with a number beyond its edge is loaded with that number. Few iterations within
// the main loop are written out, so that the loop is planned whole.
TEST(LoweredTasks, EdgesAreFilledAndShortLoopsWrittenOut) {
  for (const char* inner : {"srange r < 1", "srange r < 3", "srange r < 2, s < 2"}) {
    const std::string text = filled_bias("fill(-inf)", inner);
    TasksAndModule({text, {{"M", 70}, {"N", 16}, {"K", 40}, {"L", 80}}, {2, 1, 1}}).run();
    const auto made = lower_task_text({"t.task", text});
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(made->find("scf.for"), made->rfind("scf.for")) << inner;
  }
  const auto zeros = lower_task_text({"t.task", filled_bias("fill(0)", "srange r < 1")});
  ASSERT_TRUE(zeros) << to_string(zeros.error());
  EXPECT_NE(zeros->find("descriptor_load %X"), std::string::npos) << *zeros;
}

// Boxes of three dimensions; the first dimension is picked.
TEST(LoweredTasks, BatchOfProductsIsItsTasksToTheLastBit) {
  TasksAndModule({with_mapping("batched_gemm.task", "map m for batched { U = 64 V = 16 W = 16 }"),
                  {{"L", 2}, {"M", 70}, {"N", 24}, {"K", 40}},
                  {2, 2, 2}})
      .run();
}

// Parts of K are added in memory, through pointers and under a mask.
TEST(LoweredTasks, PartsOfKAreAddedUpToTheLastBit) {
  TasksAndModule({with_mapping("split_k.task", "map m for gemm { U = 64 V = 16 W = 16 S = 32 }"),
                  {{"M", 70}, {"N", 24}, {"K", 72}},
                  {2, 2, 3}})
      .run();
}

// Parts of K are added in memory by TMA.
TEST(LoweredTasks, PartsOfKAreAddedUpByBoxes) {
  TasksAndModule({with_mapping("split_k.task", "map m for gemm { U = 64 V = 32 W = 16 S = 32 }"),
                  {{"M", 70}, {"N", 40}, {"K", 72}},
                  {2, 2, 3}})
      .run();
}

// One loop over three indices, and boxes that begin before the image.
TEST(LoweredTasks, ConvolutionIsItsTasksToTheLastBit) {
  TasksAndModule({with_mapping("conv.task", "map m for conv { P = 64 V = 16 D = 16 }"),
                  {{"H", 3}, {"W", 70}, {"C", 24}, {"O", 24}},
                  {2, 3, 2}})
      .run();
}

// A grid of four dimensions is mapped to one.
TEST(LoweredTasks, GridOfFourDimensions) {
  std::string text =
      with_mapping("batched_gemm.task", "map m for batched { U = 64 V = 16 W = 16 }");
  const std::size_t at = text.find("l < L");
  text.replace(at, 5, "z < 1, l < L");
  TasksAndModule({text, {{"L", 2}, {"M", 70}, {"N", 24}, {"K", 40}}, {8, 1, 1}}).run();
}

// Two loops; the second has a mask made of positions.
TEST(LoweredTasks, CausalAttentionIsItsTasksToTheLastBit) {
  TasksAndModule(
      {with_mapping("attention_causal.task", "map m for attention { BM = 64 BN = 32 D = 64 }"),
       {{"M", 128}, {"D", 64}},
       {2, 1, 1}})
      .run();
}

// A tensor that a branch changes keeps its value if the condition is false.
TEST(LoweredTasks, BranchesAreTheirTasksToTheLastBit) {
  TasksAndModule({R"(
task t(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[K, N])
task begin(writes S: f32[M, N])
task add(updates S: f32[M, N], reads A: f16[M, K], reads B: f16[K, N])
task halve(updates S: f32[M, N])
task give(writes C: f32[M, N], reads S: f32[M, N])
inner t.host tunable U { prange i < cdiv(M, U) { t(blocks(C, U, N)[i, 0], blocks(A, U, K)[i, 0], B) } }
inner t.block tunable W {
  S = tensor f32[M, N]
  begin(S)
  srange k < cdiv(K, W) {
    if k != 1 { add(S, blocks(A, M, W)[0, k], blocks(B, W, N)[k, 0]) } else { halve(S) }
    if k >= 2 { halve(S) }
  }
  give(C, S)
}
leaf begin.l { S = 0 }
leaf add.l { S += mma(A, B) }
leaf halve.l { S = S * 0.5 }
leaf give.l { C = S }
map m for t { U = 64  N = 32  W = 16 }
)",
                  {{"M", 100}, {"N", 32}, {"K", 60}},
                  {2, 1, 1}})
      .run();
}

// Masks by the user's own condition, with conditions and positions converted to numbers.
TEST(LoweredTasks, ConditionsAndPositions) {
  TasksAndModule({R"(
task t(writes C: f32[M, N], reads A: f16[M, N], reads B: f16[N, N])
task part(writes C: f32[M, N], reads A: f16[M, N], reads B: f16[N, N], position i)
task mask(writes C: f32[M, N], reads S: f32[M, N], position i)
task product(writes S: f32[M, N], reads A: f16[M, N], reads B: f16[N, N])
inner t.host tunable U { prange i < cdiv(M, U) { part(blocks(C, U, N)[i, 0], blocks(A, U, N)[i, 0], B, i * U) } }
inner part.block { S = tensor f32[M, N]
  srange k < 1 { product(S, A, B) mask(C, S, i - 1) } }
leaf product.wgmma { S = mma(A, B) }
leaf mask.all {
  rows = column(iota(M)) + i
  keep = and(rows >= row(iota(N)), or(S < 0.5, not(S != S)))
  C = select(keep, S, cast(f32, rows * 2)) + select(i == 63, 1, 0)
}
map m for t { U = 64  N = 32 }
)",
                  {{"M", 100}, {"N", 32}},
                  {2, 1, 1}})
      .run();
}

// A vector is read and written through pointers, under a mask. A tile is read once, although a
// product and a sum of rows use it.
TEST(LoweredTasks, ProductWithSumOfRowsAndBias) {
  TasksAndModule({R"(
task gemm(writes C: f16[M, N], writes y: f32[M], reads A: f16[M, K], reads B: f16[N, K], reads bias: f32[N])
task step(updates C: f32[M, N], updates y: f32[M], reads A: f16[M, K], reads B: f16[N, K])
task begin(writes C: f32[M, N], writes y: f32[M])
task end(writes To: f16[M, N], writes out: f32[M], reads C: f32[M, N], reads y: f32[M], reads bias: f32[N])
inner gemm.host tunable U, V {
  prange i < cdiv(M, U) {
    gemm(blocks(C, U, V)[i, 0], blocks(y, U)[i], blocks(A, U, K)[i, 0], blocks(B, V, K)[0, 0], blocks(bias, V)[0])
  }
}
inner gemm.block tunable W {
  acc = tensor f32[M, N]
  sum = tensor f32[M]
  begin(acc, sum)
  srange k < cdiv(K, W) { step(acc, sum, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  end(C, y, acc, sum, bias)
}
leaf begin.zero { C = 0  y = 0 }
leaf step.both { C += mma(A, transpose(B))  y = y + row_sum(cast(f32, A)) }
leaf end.store { To = cast(f16, max(C + row(bias), 0))  out = y }
map m for gemm on h200 { U = 64  V = 32  W = 32 }
)",
                  {{"M", 100}, {"N", 30}, {"K", 70}},
                  {2, 1, 1}})
      .run();
}

// A prange of warpgroups over rows becomes the whole tile, since Twill cuts rows itself.
TEST(LoweredTasks, RowsForWarpgroupsAreTheWholeTile) {
  const std::string text = gemm_tasks("U = 128 V = 16 W = 16 G = 2");
  const std::string cut =
      "inner gemm_add.rows tunable G {\n prange i < G { "
      "gemm_add(blocks(C, M / G, N)[i, 0], blocks(A, M / G, K)[i, 0], B) } }\n";
  const std::size_t at = text.find("leaf gemm_add.wgmma");
  TasksAndModule(
      {text.substr(0, at) + cut + text.substr(at), {{"M", 130}, {"N", 16}, {"K", 40}}, {2, 1, 1}})
      .run();
}

/// The module without places in the user's source.
std::string placeless(const std::string& module) {
  return std::regex_replace(module, std::regex(R"( loc\([^\n]*)"), "");
}

/// The kernel of a bundled program with a part of its text replaced.
Result<std::string> kernel_of(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return lower_task_text({"t.task", text});
}

// A kernel with levels down to the thread means the same as the kernel without levels.
TEST(LoweredTasks, PartsForWarpsAndThreadsAreTheWholeTile) {
  const auto levels = lower_task_text({"t.task", bundled_tasks("gemm_levels.task")});
  const auto plain = lower_task_text({"t.task", bundled_tasks("gemm.task")});
  ASSERT_TRUE(levels) << to_string(levels.error());
  ASSERT_TRUE(plain);
  EXPECT_EQ(placeless(*levels), placeless(*plain));
  TasksAndModule(
      {with_mapping("gemm_levels.task", "map m for gemm { U = 128 V = 16 W = 16 G = 2 }"),
       {{"M", 130}, {"N", 20}, {"K", 40}},
       {2, 2, 1}})
      .run();
}

struct LevelsCase {
  const char* name;
  const char* from;
  const char* to;
  const char* message;
  int line, column;
};

class RefusedLevels : public testing::TestWithParam<LevelsCase> {};

TEST_P(RefusedLevels, WithCodeLineAndColumn) {
  const auto& it = GetParam();
  const auto made = kernel_of(bundled_tasks("gemm_levels.task"), it.from, it.to);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(it.message), std::string::npos) << to_string(made.error());
  EXPECT_EQ(made.error().location.line, it.line) << to_string(made.error());
  EXPECT_EQ(made.error().location.column, it.column) << to_string(made.error());
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedLevels,
    testing::Values(
        LevelsCase{"M10Warps", "prange w < 4", "prange w < 8",
                   "M10: mma(C, c, warp, 64, N, 16)[w]: 'mma' has 4 parts, and there are 8 "
                   "iterations",
                   24, 27},
        LevelsCase{"T03Operands", "mma(B, bt, thread, 64, N, 16)[t]", "B",
                   "T03: 'B' of 'gemm_add' is [N, K], and B is [N, K]", 28, 80},
        LevelsCase{"M10Fixed", "mma(A, a, warp, 64, N, 16)[w]", "mma(A, a, warp, 64, N, 16)[0]",
                   "M10: mma(A, a, warp, 64, N, 16)[0]: its index is 0", 24, 58},
        LevelsCase{"M10Alone", "  store(C, acc)",
                   "  gemm_add(mma(acc, c, warp, 64, N, 16)[0], mma(A, a, warp, 64, N, 16)[0], B)\n"
                   "  store(C, acc)",
                   "M10: mma(acc, c, warp, 64, N, 16)[0] is one of the 4 parts of 'mma'", 18, 12},
        LevelsCase{"T11Columns", "mma(C, c, warp, 64, N, 16)", "mma(C, c, warp, 64, 96, 16)",
                   "T11: the instruction of 'mma' has 96 elements in dimension 1, which do not "
                   "divide 256",
                   24, 27},
        LevelsCase{"T11Groups", "G = 2", "G = 4",
                   "T11: the instruction of 'mma' has 64 elements in dimension 0, which do not "
                   "divide 32",
                   24, 27},
        LevelsCase{"T11Depth", "W = 64  G", "W = 40  G",
                   "T11: the instruction of 'mma' has 16 elements in dimension 1, which do not "
                   "divide 40",
                   24, 58},
        LevelsCase{"M09", "mma(A, a, warp, 64, N, 16)", "mma(A, a, warp, 128, N, 16)",
                   "M09: there is no instruction of 128 rows, 256 columns and depth 16", 24, 58}),
    [](const auto& it) { return std::string(it.param.name); });

// Warps reduce rows: a thread has only some columns of a row.
TEST(LoweredTasks, ThreadsReduceNoRows) {
  const std::string text = R"(
task t(writes y: f32[M], reads A: f16[M, K], reads B: f16[N, K])
task product(writes S: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task scale(updates S: f32[M, N])
task sum(writes y: f32[M], reads S: f32[M, N])
inner t.v tunable N_ { S = tensor f32[M, N]  product(S, A, B)  scale(S)  sum(y, S) }
inner scale.warps { prange w < 4 { scale(mma(S, c, warp, 64, N, 16)[w]) } }
inner scale.threads { prange t < 32 { scale(mma(S, c, thread, 64, N, 16)[t]) } }
leaf product.l { S = mma(A, transpose(B)) }
leaf scale.l { S = S - column(row_max(S)) }
leaf sum.l { y = row_sum(S) }
map m for t { M = 64 N = 16 K = 16 N_ = 1 }
)";
  const auto made = lower_task_text({"t.task", text});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("M10: 'scale.l' needs more of its operands"),
            std::string::npos)
      << to_string(made.error());
  EXPECT_EQ(made.error().location.line, 8);
  std::string by_warps = text;
  const std::size_t at = by_warps.find("inner scale.threads");
  by_warps.erase(at, by_warps.find('\n', at) - at);
  const auto warps = lower_task_text({"t.task", by_warps});
  EXPECT_TRUE(warps) << to_string(warps.error());
}

// Windows of elements at a distance are loaded and stored through pointers. This is a convolution
// with stride 2 and taps 3 apart. Its windows begin before the image and end after it.
TEST(LoweredTasks, ElementsThatAreApart) {
  const std::string text = R"(
task conv(updates Y: f16[W, O], reads X: f16[V, C], reads F: f16[5, O, C])
task add(updates S: f32[P, O], reads X: f16[P, C], reads F: f16[O, C])
task clear(writes S: f32[P, O])
task store(updates Y: f16[P, O], reads S: f32[P, O])
task pixels(updates Y: f16[P, O], reads X: f16[V, C], reads F: f16[5, O, C], position begin)
inner conv.host tunable P {
  prange w < cdiv(W, P * 2) {
    pixels(windows(Y, P, O by P * 2, O every 2, 1)[w, 0], X, F, w * P * 2 - 6)
  }
}
inner pixels.block tunable D {
  S = tensor f32[P, O]
  clear(S)
  srange r < 5, c < cdiv(C, D) {
    add(S, windows(X, P, D by 1, D every 2, 1)[begin + 3 * r, c], blocks(pick(F, r), O, D)[0, c])
  }
  store(Y, S)
}
leaf add.l { S += mma(X, transpose(F)) }
leaf clear.l { S = 0 }
leaf store.l { Y = Y * 0 + cast(f16, S) }
map m for conv { P = 64 D = 16 O = 16 }
)";
  TasksAndModule({text, {{"W", 150}, {"V", 140}, {"C", 24}, {"O", 16}}, {2, 1, 1}}).run();
  std::string none = text;
  none.replace(none.find("every 2, 1)[begin"), 7, "every Q - 1");
  none.replace(none.find("tunable D"), 9, "tunable D, Q");
  none.replace(none.find("D = 16 "), 7, "D = 16 Q = 1 ");
  const auto refused = lower_task_text({"t.task", none});
  ASSERT_FALSE(refused);
  EXPECT_NE(
      to_string(refused.error()).find("T13: elements of windows are one apart or more, not 0"),
      std::string::npos)
      << to_string(refused.error());
}

// A part ends at the edge of its outer tile, which may be within the tensor.
TEST(LoweredTasks, WindowsOfWindowsThatBeginInFront) {
  const std::string text = R"(
task t(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task part(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task product(writes C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
inner t.host tunable U {
  prange i < 1 { part(blocks(C, U, N)[1, 0], windows(A, U, K by U, K)[1, 0], B) }
}
inner part.block { srange k < 1 { product(C, windows(A, M, K by 1, K)[-8, 0], B) } }
leaf product.l { C = mma(A, transpose(B)) }
map m for t { U = 64 M = 64 N = 16 K = 16 }
)";
  const auto made = lower_task_text({"t.task", text});
  ASSERT_FALSE(made);
  EXPECT_NE(to_string(made.error()).find("T11: windows of 64 may go beyond the block of 64"),
            std::string::npos)
      << to_string(made.error());
}

// Tiles have no powers of two: the reader accepts them in modules made of tasks.
TEST(LoweredTasks, TilesOfAnyExtents) {
  TasksAndModule(
      {gemm_tasks("U = 192 V = 176 W = 32"), {{"M", 200}, {"N", 180}, {"K", 70}}, {2, 2, 1}})
      .run();
}

// A tensor that is read and written is one array of the module. (It was loaded through a descriptor
// and stored through pointers, so a load could move before an earlier iteration's store.)
TEST(LoweredTasks, SumsInGlobalMemoryAreOneArray) {
  for (const std::string type : {"f32", "f16"}) {
    const std::string text = fmt::format(R"(
task gemm(updates C: {0}[M, N], reads A: f16[M, K], reads B: f16[N, K])
task add(updates C: {0}[M, N], reads A: f16[M, K], reads B: f16[N, K])
inner gemm.host tunable U, V {{
  prange i < cdiv(M, U), j < cdiv(N, V) {{
    gemm(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0])
  }}
}}
inner gemm.block tunable W {{
  srange k < cdiv(K, W) {{ add(C, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }}
}}
leaf add.l {{ C = cast({0}, mma(A, transpose(B), cast(f32, C))) }}
map m for gemm {{ U = 64 V = 64 W = 16 }}
)",
                                         type);
    const auto lowered = lower_task_text({"t.task", text});
    ASSERT_TRUE(lowered) << to_string(lowered.error());
    EXPECT_EQ(lowered->find("%C_2"), std::string::npos) << *lowered;
    TasksAndModule({text, {{"M", 70}, {"N", 90}, {"K", 40}}, {2, 2, 1}}).run();
  }
}

// Random kernels, at ragged sizes: each module computes the same bits as its tasks. Refusals of
// tasks have a code.
TEST(LoweredTasks, RandomKernelsMeanWhatTheirTasksMean) {
  int made = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    const tasks::RandomKernel kernel(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, kernel.text()));
    const auto lowered = lower_task_text({"t.task", kernel.text()});
    if (!lowered) {
      EXPECT_FALSE(tasks::code_of(lowered.error()).empty()) << to_string(lowered.error());
      continue;
    }
    TasksAndModule({kernel.text(), kernel.sizes(), kernel.grid()}).run();
    ++made;
  }
  EXPECT_GT(made, 30) << "of 40 kernels most are to be made";
}

struct UnloweredCase {
  const char* name;
  const char* mapping;
  const char* message;
};

class NotLowered : public testing::TestWithParam<UnloweredCase> {};

TEST_P(NotLowered, WithItsCode) {
  const auto lowered = lower_task_text({"t.task", gemm_tasks(GetParam().mapping)});
  ASSERT_FALSE(lowered);
  const std::string said = to_string(lowered.error());
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
  EXPECT_GT(lowered.error().location.line, 0);
}

const UnloweredCase kNotLowered[] = {
    {"M09Rows", "U = 100 V = 64 W = 64", "M09: there is no instruction for a product of 100 rows"},
    {"M09Columns", "U = 128 V = 512 W = 64", "512 columns and depth 64"},
    {"M03Tile", "U = 128 V = 64", "M03: 'gemm.block' needs a value of its tunable 'W'"},
    // These statements were once dropped without a message, and the tiles were in registers.
    {"M06Sums", "U = 128 V = 64 W = 64 p: gemm_add.wgmma C: shared",
     "M06: the mapping has 'C' of 'p' in shared memory"},
    {"M06Elements", "U = 128 V = 64 W = 64 s: store.cast From: shared",
     "M06: the mapping has 'From' of 's' in shared memory"},
    {"M09Layout", "U = 128 V = 64 W = 24",
     "M09: rows of 24 f16 of 'A' have no layout in shared memory that 'mma' reads"},
};

INSTANTIATE_TEST_SUITE_P(All, NotLowered, testing::ValuesIn(kNotLowered),
                         [](const auto& it) { return std::string(it.param.name); });

// Windows of a part must not exceed the part.
TEST(NotLowered, WindowsBeyondTheirPart) {
  std::string conv = bundled_tasks("conv.task");
  conv.replace(conv.find("P + 2, C by"), 5, "P + 1");
  const auto beyond = lower_task_text({"t.task", conv});
  ASSERT_FALSE(beyond);
  EXPECT_NE(to_string(beyond.error()).find("T11: windows of 128 may go beyond the block of 129"),
            std::string::npos)
      << to_string(beyond.error());
}

// TMA needs picked dimensions first. Threads copy a block with other picked dimensions.
TEST(LoweredTasks, PicksBetweenDimensions) {
  const std::string text = R"(
task all(writes C: f16[M, L, N], reads A: f16[M, L, K], reads B: f16[N, K, L])
task one(writes C: f16[M, N], reads A: f16[M, K], reads B: f16[N, K])
inner all.host tunable U { prange i < cdiv(M, U), l < L { one(blocks(pick(C, l, 1), U, N)[i, 0], blocks(pick(A, l, 1), U, K)[i, 0], pick(B, l, 2)) } }
leaf one.l { C = cast(f16, mma(A, transpose(B))) }
map m for all { U = 64 N = 16 K = 32 }
)";
  TasksAndModule({text, {{"M", 70}, {"L", 3}, {"N", 16}, {"K", 32}}, {2, 3, 1}}).run();
}

// Rows of a product's tiles that are no multiple of 128 bytes are in narrower panels.
TEST(LoweredTasks, RowsInNarrowPanels) {
  const std::string text = R"(
task g(writes C: f16[M, N], reads A: f16[M, K], reads B: f16[K, N])
task add(updates S: f32[M, N], reads A: f16[M, K], reads B: f16[K, N])
task clear(writes S: f32[M, N])
task give(writes C: f16[M, N], reads S: f32[M, N])
inner g.host tunable U, V { prange i < cdiv(M, U), j < cdiv(N, V) { g(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, K, V)[0, j]) } }
inner g.block tunable W { S = tensor f32[M, N]  clear(S)  srange k < cdiv(K, W) { add(S, blocks(A, M, W)[0, k], blocks(B, W, N)[k, 0]) }  give(C, S) }
leaf add.l { S += mma(A, B) }
leaf clear.l { S = 0 }
leaf give.l { C = cast(f16, S) }
)";
  for (const std::string tile : {"V = 96 W = 48", "V = 80 W = 80", "V = 176 W = 112"}) {
    TasksAndModule({text + "map m for g { U = 64 " + tile + " }",
                    {{"M", 70}, {"N", 200}, {"K", 130}},
                    {2, 3, 1}})
        .run();
  }
}

// Products of 8-bit numbers have a depth of 32; results computed from their sums are cast.
TEST(LoweredTasks, NumbersOfEightBits) {
  const std::string text = R"(
task g(writes C: f8e5m2[M, N], reads A: F8[M, K], reads B: F8[N, K], reads s: f32[M], reads D: F8[M, N])
task add(updates S: f32[M, N], reads A: F8[M, K], reads B: F8[N, K])
task clear(writes S: f32[M, N])
task give(writes C: f8e5m2[M, N], reads S: f32[M, N], reads s: f32[M], reads D: F8[M, N])
inner g.host tunable U, V { prange i < cdiv(M, U), j < cdiv(N, V) { g(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0], blocks(s, U)[i], blocks(D, U, V)[i, j]) } }
inner g.block tunable W { S = tensor f32[M, N]  clear(S)  srange k < cdiv(K, W) { add(S, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }  give(C, S, s, D) }
leaf add.l { S += mma(A, transpose(B)) }
leaf clear.l { S = 0 }
leaf give.l { C = cast(f8e5m2, S * column(s) + cast(f32, D)) }
)";
  for (const std::string type : {"f8e4m3", "f8e5m2"}) {
    const std::string typed = std::regex_replace(text, std::regex("F8"), type);
    TasksAndModule({typed + "map m for g { U = 64 V = 32 W = 64 }",
                    {{"M", 70}, {"N", 40}, {"K", 130}},
                    {2, 2, 1}})
        .run();
    const auto shallow =
        lower_task_text({"t.task", typed + "map m for g { U = 64 V = 32 W = 48 }"});
    ASSERT_FALSE(shallow);
    EXPECT_NE(to_string(shallow.error()).find("M09"), std::string::npos);
  }
  std::string across = std::regex_replace(text, std::regex("F8"), "f8e4m3");
  for (const auto& [was, is] : {std::pair("B: f8e4m3[N, K]", "B: f8e4m3[K, N]"),
                                {"B: f8e4m3[N, K]", "B: f8e4m3[K, N]"},
                                {"blocks(B, V, K)[j, 0]", "blocks(B, K, V)[0, j]"},
                                {"blocks(B, N, W)[0, k]", "blocks(B, W, N)[k, 0]"},
                                {"mma(A, transpose(B))", "mma(A, B)"}}) {
    across.replace(across.find(was), std::string(was).size(), is);
  }
  const auto refused = lower_task_text({"t.task", across + "map m for g { U = 64 V = 32 W = 64 }"});
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.error()).find("M09: tensor cores read operands of 8 bits"),
            std::string::npos)
      << to_string(refused.error());
}

/// A product added in parts of K, with a scale for each row.
const std::string kIntegers = R"(
task g(writes C: f16[M, N], OUT D: i32[M, N], reads A: i8[M, K], reads B: i8[N, K], reads s: f32[M])
task add(updates S: i32[M, N], reads A: i8[M, K], reads B: i8[N, K])
task clear(writes S: i32[M, N])
task give(writes C: f16[M, N], OUT D: i32[M, N], reads S: i32[M, N], reads s: f32[M])
inner g.host = split M by U, N by V
inner g.block tunable W {
  S = tensor i32[M, N]
  clear(S)
  srange k < cdiv(K, W) { add(S, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  give(C, D, S, s)
}
leaf add.l { S += mma(A, transpose(B)) }
leaf clear.l { S = 0 }
leaf give.l { C = cast(f16, cast(f32, max(S, -3)) * column(s))  D STORES 2 * S }
)";

// Products of 8-bit integers are summed in 32-bit integers, which are kept, reduced and cast.
TEST(LoweredTasks, ProductsOfIntegers) {
  for (const auto& [out, stores] :
       {std::pair("writes", "="), {"updates", "= D +"}, {"reduces(+)", "+="}}) {
    std::string text = std::regex_replace(kIntegers, std::regex("OUT"), out);
    text = std::regex_replace(text, std::regex("STORES"), stores);
    TasksAndModule({text + "map m for g { U = 64 V = 32 W = 64 }",
                    {{"M", 70}, {"N", 40}, {"K", 130}},
                    {2, 2, 1}})
        .run();
  }
  const std::string text = std::regex_replace(
      std::regex_replace(kIntegers, std::regex("OUT"), "writes"), std::regex("STORES"), "=");
  const auto module = lower_task_text({"t.task", text + "map m for g { U = 64 V = 256 W = 64 }"});
  ASSERT_TRUE(module) << to_string(module.error());
  EXPECT_NE(module->find("instrShape = [16, 128, 32]"), std::string::npos)
      << "Triton has no instruction for integers with 256 columns";
  const auto shallow = lower_task_text({"t.task", text + "map m for g { U = 64 V = 32 W = 48 }"});
  ASSERT_FALSE(shallow);
  EXPECT_NE(to_string(shallow.error()).find("M09"), std::string::npos);
}

// Triton lowers no arith.negf of tiles. It refuses 8-bit products with f32 sums unless the sums may
// be inexact.
TEST(LoweredTasks, WhatTritonLowers) {
  const std::string text = R"(
task g(writes C: f32[M, N], reads A: f8e4m3[M, K], reads B: f8e4m3[N, K], reads s: f32[M])
inner g.host = split M by 64
leaf g.l { C = tanh(mma(A, transpose(B)) * column(-s)) }
map m for g { M = 128 N = 64 K = 64 }
)";
  const auto module = lower_task_text({"t.task", text});
  ASSERT_TRUE(module) << to_string(module.error());
  EXPECT_EQ(module->find("negf"), std::string::npos) << *module;
  EXPECT_EQ(module->find("math.tanh"), std::string::npos) << *module;
  EXPECT_NE(module->find("symbol = \"__nv_tanhf\""), std::string::npos) << *module;
  EXPECT_NE(module->find("maxNumImpreciseAcc = 1073741824"), std::string::npos) << *module;
  TasksAndModule({text, {{"M", 128}, {"N", 64}, {"K", 64}}, {2, 1, 1}}).run();
}

// Sums in f16 are rounded once for each tile of the depth; other sums are in f32.
TEST(LoweredTasks, SumsInHalf) {
  TasksAndModule({R"(
task g(writes C: f16[M, N], reads A: f16[M, K], reads B: f16[K, N])
task add(updates C: f16[M, N], reads A: f16[M, K], reads B: f16[K, N])
task clear(writes C: f16[M, N])
task store(writes To: f16[M, N], reads From: f16[M, N])
inner g.host = split M by U, N by V
inner g.block tunable W {
  S = tensor f16[M, N]
  clear(S)
  srange k < cdiv(K, W) { add(S, blocks(A, M, W)[0, k], blocks(B, W, N)[k, 0]) }
  store(C, S)
}
leaf add.l { C += mma(A, B) }
leaf clear.l { C = 0 }
leaf store.l { To = From }
map m for g { U = 64 V = 64 W = 32 }
)",
                  {{"M", 70}, {"N", 96}, {"K", 130}},
                  {2, 2, 1}})
      .run();
}

// Products of integers beside products of halves: each has the instruction of its own operands.
TEST(LoweredTasks, InstructionsOfEachProduct) {
  const auto module = lower_task_text({"t.task", R"(
task two(writes C: f32[M, N], reads A: i8[M, K], reads B: i8[N, K], reads X: f16[M, L], reads Y: f16[N, L])
inner two.host { prange i < 1 { two(C, A, B, X, Y) } }
leaf two.l { C = mma(X, transpose(Y), cast(f32, mma(A, transpose(B)))) }
map m for two { M = 64 N = 64 K = 64 L = 64 }
)"});
  ASSERT_TRUE(module) << to_string(module.error());
  EXPECT_NE(module->find("instrShape = [16, 64, 32]"), std::string::npos) << *module;
  EXPECT_NE(module->find("instrShape = [16, 64, 16]"), std::string::npos) << *module;
}

// A layout in the mapping is the tile's layout, or is refused at its statement.
TEST(LoweredTasks, StatedLayouts) {
  const std::string text = bundled_tasks("gemm.task");
  const auto lowered = [&](const std::string& swizzle) {
    TaskSource source{"gemm.task", text};
    source.map_file = "a.map";
    source.map_text =
        "map m for gemm on h200 { U = 128 V = 256 W = 32\nm: gemm_add.wgmma A: shared " + swizzle +
        " }";
    return lower_task_text(source);
  };
  const auto stated = lowered("swizzle 32");
  ASSERT_TRUE(stated) << to_string(stated.error());
  EXPECT_NE(stated->find("!tt.tensordesc<tensor<128x32xf16, #shared32_16>>"), std::string::npos);
  EXPECT_NE(stated->find("!tt.tensordesc<tensor<256x32xf16, #shared64_16>>"), std::string::npos);
  const auto same = lowered("swizzle 64"), derived = lowered("");
  ASSERT_TRUE(same && derived);
  EXPECT_EQ(std::regex_replace(*same, std::regex("a.map"), ""),
            std::regex_replace(*derived, std::regex("a.map"), ""));
  const auto refused = lowered("swizzle 128");
  ASSERT_FALSE(refused);
  const std::string said = to_string(refused.error());
  EXPECT_NE(said.find("a.map:2:29: error: M09: rows of 'A' have 64 bytes, which 128 do not divide"),
            std::string::npos)
      << said;
}

// Every op of the module has the place of its task.
TEST(LoweredTasks, OpsStandAtTheUsersLines) {
  const std::string text = bundled_tasks("gemm.task");
  const auto lowered = lower_task_text({"gemm.task", text});
  ASSERT_TRUE(lowered) << to_string(lowered.error());
  const auto program = read_ttgir(*lowered, "gemm.task");
  ASSERT_TRUE(program) << to_string(program.error());
  int products = 0;
  for (const ir::OpId op : ir::walk(*program, program->module())) {
    if (program->op(op).kind != ir::OpKind::wgmma) continue;
    const auto at = ir::source_location(*program, op);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->file, "gemm.task");
    EXPECT_NE(line_of(text, at->line).find("mma(A, transpose(B))"), std::string::npos) << at->line;
    ++products;
  }
  EXPECT_EQ(products, 1);
}

// --- Mappings of their own ----------------------------------------------------------------------

const char* const kMapText =
    "# of gemm\nmap small for gemm on h100 {\n  U = 64, V = 80, W = 64\n"
    "  depth = 3\n  limit shared = 96 KiB\n  specialize\n}\n"
    "map wrong for gemm { U = 64 V = 80 W = {64, 128} }\n";

TaskSource with_map(const std::string& mapping = {}) {
  return {"gemm.task", bundled_tasks("gemm.task"), mapping, "gemm.map", kMapText};
}

// A mapping in a separate file replaces the mappings beside the tasks. Its statements about more
// than the kernel keep their places in the text.
TEST(Mappings, FileOfItsOwn) {
  const auto lowered = lower_task_text(with_map());
  ASSERT_TRUE(lowered) << to_string(lowered.error());
  const auto program = read_ttgir(*lowered, "gemm.task");
  ASSERT_TRUE(program) << to_string(program.error());
  std::optional<Stated> stated;
  for (const ir::OpId op : ir::walk(*program, program->module())) {
    const ir::Op& it = program->op(op);
    if (it.kind == ir::OpKind::wgmma) {
      EXPECT_EQ(ir::type_of(*program, it.results[0])->shape, (std::vector<std::int64_t>{64, 80}));
    }
    if (it.kind == ir::OpKind::for_loop) stated = stated_by_mapping(*program, op);
  }
  ASSERT_TRUE(stated);
  EXPECT_EQ(stated->machine, "h100");
  ASSERT_TRUE(stated->depth && stated->shared && stated->specialize);
  EXPECT_EQ(stated->depth->value, 3);
  EXPECT_EQ(stated->depth->where, (Location{"gemm.map", 4, 3}));
  EXPECT_EQ(stated->shared->value, 96 * 1024);
  EXPECT_EQ(stated->shared->where, (Location{"gemm.map", 5, 3}));
  EXPECT_EQ(stated->specialize->value, 1);
}

// Triton's kernels have no mapping, so no statement exists.
TEST(Mappings, NothingStated) {
  const auto program = read_ttgir("module { tt.func public @k() { tt.return } }", "k.ttgir");
  ASSERT_TRUE(program) << to_string(program.error());
  const Stated stated = stated_by_mapping(*program, program->module());
  EXPECT_TRUE(stated.machine.empty());
  EXPECT_FALSE(stated.depth || stated.shared || stated.specialize);
}

TEST(Mappings, ErrorsShowTheLineOfTheirFile) {
  const auto lowered = lower_task_text(with_map("wrong"));
  ASSERT_FALSE(lowered);
  EXPECT_EQ(lowered.error().location.line, 8);
  EXPECT_EQ(lowered.error().location.file, "gemm.map");
  EXPECT_NE(lowered.error().source_line.find("W = {64, 128}"), std::string::npos);
  const auto none = lower_task_text(with_map("smal"));
  ASSERT_FALSE(none);
  EXPECT_NE(to_string(none.error()).find("did you mean 'small'?"), std::string::npos);
}

}  // namespace
}  // namespace twill::frontend
