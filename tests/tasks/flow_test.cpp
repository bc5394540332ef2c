#include "twill/tasks/flow.h"

#include "programs.h"

namespace twill::tasks {
namespace {

using execute::Tile;

/// A product over the blocks before the diagonal, with a branch for the blocks on the diagonal.
const std::string kBranches = R"(
task t(writes C: f32[M, N], reads A: f32[M, N])
task begin(writes S: f32[M, N])
task add(updates S: f32[M, N], reads A: f32[M, N])
task mask(updates S: f32[M, N], position i)
task give(writes C: f32[M, N], reads S: f32[M, N])
inner t.host tunable U {
  prange i < cdiv(M, U) { t(blocks(C, U, N)[i, 0], blocks(A, U, N)[i, 0]) }
}
inner t.block {
  S = tensor f32[M, N]
  begin(S)
  srange k < 4 {
    if k < 3 { add(S, A) } else { mask(S, k - 1) }
  }
  give(C, S)
}
leaf begin.l { S = 0 }
leaf add.l { S = S + A }
leaf mask.l { S = select(column(iota(M)) < i, S, -S) }
leaf give.l { C = S }
map m for t { U = 4 }
)";

const std::string kGemmByRows = R"(
task gemm(writes C: f16[M, N], reads A: f16[M, K], reads B: f16[N, K])
task gemm_add(updates C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes C: f32[M, N])
task store(writes To: f16[M, N], reads From: f32[M, N])
inner gemm.host tunable U, V {
  prange i < cdiv(M, U), j < cdiv(N, V) {
    gemm(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0])
  }
}
inner gemm.block tunable W {
  acc = tensor f32[M, N]
  clear(acc)
  srange k < cdiv(K, W) { gemm_add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  store(C, acc)
}
inner gemm_add.rows tunable G {
  prange g < G {
    gemm_add(blocks(C, M / G, N)[g, 0], blocks(A, M / G, K)[g, 0], B)
  }
}
leaf gemm_add.mma { C += mma(A, transpose(B)) }
leaf clear.zero { C = 0 }
leaf store.cast { To = cast(f16, From) }
map m for gemm on h200 { U = 8  V = 4  W = 5  G = 2 }
)";

struct Given {
  const char* name;
  std::string text;
  std::map<std::string, std::int64_t> tunables;
  std::map<std::string, execute::Shape> shapes;
};

class Passes : public testing::TestWithParam<Given> {};

// Each pass keeps the meaning of the tasks, to the last bit.
TEST_P(Passes, KeepEveryBit) {
  const auto tree = tree_of(must_read(GetParam().text), GetParam().tunables);
  ASSERT_TRUE(tree) << to_string(tree.error());
  std::map<std::string, Tile> arrays;
  unsigned seed = 1;
  for (const auto& [name, shape] : GetParam().shapes) arrays[name] = numbers(shape, seed++);
  const auto meant = run(*tree, arrays);
  ASSERT_TRUE(meant) << to_string(meant.error());
  Flow flow = analyse(*tree);
  for (const char* pass : {"analyse", "vectorize", "eliminate"}) {
    if (pass == std::string("vectorize")) flow = vectorize(std::move(flow));
    if (pass == std::string("eliminate")) flow = eliminate(std::move(flow));
    const auto ran = run(flow, arrays);
    ASSERT_TRUE(ran) << pass << ": " << to_string(ran.error());
    for (const auto& [name, tile] : *meant) {
      if (find_argument(*tree->root.task, name)->privilege == Privilege::reads) continue;
      EXPECT_EQ(ran->at(name).numbers(), tile.numbers()) << pass << "\n" << to_string(flow);
    }
  }
  const auto kept = check_none(flow);
  EXPECT_TRUE(kept) << to_string(kept.error()) << to_string(flow);
}

INSTANTIATE_TEST_SUITE_P(
    All, Passes,
    testing::Values(
        Given{"Gemm",
              bundled("gemm.task"),
              {{"U", 8}, {"V", 4}, {"W", 5}},
              {{"A", {17, 11}}, {"B", {9, 11}}, {"C", {17, 9}}}},
        Given{"GemmByLevels",
              bundled("gemm_levels.task"),
              {{"U", 128}, {"V", 16}, {"W", 16}},
              {{"A", {130, 40}}, {"B", {20, 40}}, {"C", {130, 20}}}},
        Given{"GemmByRows", kGemmByRows, {}, {{"A", {17, 11}}, {"B", {9, 11}}, {"C", {17, 9}}}},
        Given{"Dual",
              bundled("dual_gemm.task"),
              {{"U", 8}, {"V", 4}, {"W", 5}},
              {{"A", {9, 7}}, {"B1", {5, 7}}, {"B2", {5, 7}}, {"C", {9, 5}}}},
        Given{"Gated",
              bundled("gated_mlp.task"),
              {{"U", 8}, {"V", 4}, {"W", 5}},
              {{"A", {9, 7}}, {"G", {5, 7}}, {"L", {5, 7}}, {"C", {9, 5}}}},
        Given{"RowSum",
              bundled("gemm_rowsum.task"),
              {{"U", 8}, {"N", 5}, {"W", 5}},
              {{"A", {9, 7}}, {"B", {5, 7}}, {"y", {9}}, {"C", {9, 5}}}},
        Given{"ShiftedAttention",
              bundled("attention_fa3.task"),
              {{"BM", 4}, {"BN", 6}, {"D", 8}},
              {{"O", {10, 8}}, {"Q", {10, 8}}, {"K", {18, 8}}, {"V", {18, 8}}}},
        Given{"Branches", kBranches, {}, {{"A", {10, 3}}, {"C", {10, 3}}}},
        Given{"Batched",
              bundled("batched_gemm.task"),
              {{"U", 8}, {"V", 4}, {"W", 5}},
              {{"A", {2, 9, 7}}, {"B", {2, 5, 7}}, {"C", {2, 9, 5}}}},
        Given{"SplitK",
              bundled("split_k.task"),
              {{"U", 8}, {"V", 4}, {"W", 5}, {"S", 10}},
              {{"A", {9, 23}}, {"B", {5, 23}}, {"C", {9, 5}}}},
        Given{"Convolution",
              bundled("conv.task"),
              {{"P", 4}, {"V", 3}, {"D", 2}},
              {{"X", {3, 6, 5}}, {"F", {3, 3, 4, 5}}, {"Y", {3, 6, 4}}}},
        Given{"CausalAttention",
              bundled("attention_causal.task"),
              {{"BM", 4}, {"BN", 2}, {"D", 8}},
              {{"O", {12, 8}}, {"Q", {12, 8}}, {"K", {12, 8}}, {"V", {12, 8}}}},
        Given{"Attention",
              bundled("attention.task"),
              {{"BM", 4}, {"BN", 6}, {"D", 8}},
              {{"O", {10, 8}}, {"Q", {10, 8}}, {"K", {12, 8}}, {"V", {12, 8}}}}),
    [](const auto& it) { return std::string(it.param.name); });

Flow flow_of(const std::string& text) {
  const auto tree = tree_of(must_read(text));
  EXPECT_TRUE(tree) << to_string(tree.error());
  return tree ? analyse(*tree) : Flow();
}

// The paper's Figures 8 to 10 on its GEMM: every task has copies around it. Then parts of rows
// become one call, and the accumulator stays in place: only the loads and the store remain.
TEST(Flow, GemmKeepsItsLoadsAndItsStore) {
  const Flow analysed = flow_of(kGemmByRows);
  EXPECT_EQ(count(analysed).copies, 7U) << to_string(analysed);
  const Flow whole = vectorize(analysed);
  EXPECT_NE(to_string(analysed).find("pfor g < 2"), std::string::npos);
  EXPECT_EQ(to_string(whole).find("pfor g < 2"), std::string::npos) << to_string(whole);
  EXPECT_EQ(count(whole).calls, 3U);
  const Flow left = eliminate(whole);
  EXPECT_EQ(count(left).copies, 3U) << to_string(left);
  EXPECT_FALSE(check_none(analysed));
}

// Warps and threads with parts of a fragment also become one call on the whole tile.
TEST(Flow, PartsByMmaAreOneCall) {
  const Flow analysed = flow_of(bundled("gemm_levels.task"));
  EXPECT_NE(to_string(analysed).find("pfor t < 32 at warp"), std::string::npos)
      << to_string(analysed);
  const Flow left = eliminate(vectorize(analysed));
  EXPECT_EQ(to_string(left).find("pfor g"), std::string::npos) << to_string(left);
  EXPECT_EQ(count(left).calls, 3U);
  EXPECT_EQ(count(left).copies, 3U) << to_string(left);
}

TEST(Flow, PrintsEventsAndWhatComesAfterWhich) {
  const std::string text = to_string(eliminate(vectorize(flow_of(bundled("gemm.task")))));
  EXPECT_NE(text.find("e1 = pfor i < cdiv(M, 128), j < cdiv(N, 256) at host {"), std::string::npos)
      << text;
  EXPECT_NE(text.find(" after e2"), std::string::npos) << text;
}

// Q is equal for all keys, and two products read one block of A.
TEST(Flow, LoadsOfTheSameAreMadeOnce) {
  const std::string attention = to_string(eliminate(flow_of(bundled("attention.task"))));
  EXPECT_LT(attention.find("copy blocks(Q"), attention.find("= for ")) << attention;
  EXPECT_EQ(count(eliminate(flow_of(bundled("gated_mlp.task")))).copies, 4U);
}

// Copies that must stay: of a tensor that a task writes between its two copies, and of a tensor of
// which tasks take different parts.
TEST(Flow, CopiesThatHaveToStay) {
  const Flow flow = flow_of(R"(
task t(updates C: f32[M])
task bump(updates C: f32[M])
leaf bump.l { C = C + 1 }
inner t.v { bump(C)  bump(C)  bump(blocks(C, 4)[0]) }
map m for t on h200 { M = 8 }
)");
  EXPECT_EQ(count(eliminate(flow)).copies, 6U) << to_string(eliminate(flow));
  const Flow parts = eliminate(flow_of(R"(
task t(writes C: f32[M])
task fill(writes C: f32[M])
task copy(writes To: f32[M], reads From: f32[M])
leaf fill.l { C = 1 }
leaf copy.l { To = From }
inner t.v { a = tensor f32[M]  fill(blocks(a, 4)[0])  fill(blocks(a, 4)[1])  copy(C, a) }
map m for t on h200 { M = 8 }
)"));
  const auto kept = check_none(parts);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message.substr(0, 4), "M08:");
}

}  // namespace
}  // namespace twill::tasks
