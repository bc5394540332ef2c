#include <algorithm>
#include <cmath>

#include "programs.h"
#include "twill/tasks/evaluate.h"
#include "twill/tasks/flow.h"

namespace twill::tasks {
namespace {

using execute::Tile;

std::size_t at(std::int64_t row, std::int64_t column, std::int64_t columns) {
  return static_cast<std::size_t>(row * columns + column);
}

/// C = A B^T in blocks of W along K, as plain loops.
Tile plain_gemm(const Tile& a, const Tile& b) {
  const std::int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  Tile c = execute::poison({m, n}, true);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t x = 0; x < k; ++x)
        sum += a.numbers()[at(i, x, k)] * b.numbers()[at(j, x, k)];
      c.numbers()[at(i, j, n)] = rounded(Scalar::f16, static_cast<double>(sum));
    }
  }
  return c;
}

Tile halves(Tile tile) {
  for (float& number : tile.numbers()) number = rounded(Scalar::f16, static_cast<double>(number));
  return tile;
}

struct Sizes {
  std::int64_t m, n, k;
};

class Gemm : public testing::TestWithParam<Sizes> {};

// Ragged ends read as zero and are not written: sums along K have the order of plain loops.
TEST_P(Gemm, IsPlainLoopsToTheLastBit) {
  const auto [m, n, k] = GetParam();
  const auto tree = tree_of(must_read(bundled("gemm.task")), {{"U", 8}, {"V", 4}, {"W", 5}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile a = halves(numbers({m, k}, 1)), b = halves(numbers({n, k}, 2));
  const std::map<std::string, Tile> arrays = {{"A", a}, {"B", b}, {"C", numbers({m, n}, 3)}};
  for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
    const auto ran = run(*tree, arrays, {order, 7});
    ASSERT_TRUE(ran) << to_string(ran.error());
    EXPECT_EQ(ran->at("C").numbers(), plain_gemm(a, b).numbers());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Gemm,
                         testing::Values(Sizes{16, 8, 10}, Sizes{7, 3, 4}, Sizes{9, 5, 11},
                                         Sizes{1, 1, 1}, Sizes{17, 13, 0}, Sizes{0, 4, 5}));

// The paper's Figure 4: warps have 16 rows each, and threads pairs of columns in two rows of eight.
TEST(Fragment, WarpsAndThreadsHaveTheElementsOfTheirAccumulator) {
  const auto tree = tree_of(must_read(R"(
task mark(writes C: f32[M, N], position i)
task all(writes C: f32[M, N])
task warp(writes C: f32[M, N], position w)
inner all.warps { prange w < 4 { warp(mma(C, c, warp, 64, 16, 16)[w], w * 32) } }
inner warp.threads { prange t < 32 { mark(mma(C, c, thread, 64, 16, 16)[t], w + t) } }
leaf mark.l { C = cast(f32, i) }
map m for all { M = 64 N = 16 }
)"));
  ASSERT_TRUE(tree) << to_string(tree.error());
  const auto ran = run(*tree, {{"C", numbers({64, 16}, 1)}});
  ASSERT_TRUE(ran) << to_string(ran.error());
  for (std::int64_t row = 0; row < 64; ++row) {
    for (std::int64_t column = 0; column < 16; ++column) {
      const std::int64_t thread = row % 8 * 4 + column % 8 / 2;
      EXPECT_EQ(ran->at("C").numbers()[at(row, column, 16)],
                static_cast<float>(row / 16 * 32 + thread))
          << row << ", " << column;
    }
  }
}

// Softmax in double precision with all keys at once.
TEST(Attention, IsSoftmaxOfScores) {
  const std::int64_t m = 10, n = 12, d = 8;
  const auto tree = tree_of(must_read(bundled("attention.task")), {{"BM", 4}, {"BN", 6}, {"D", 8}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile q = halves(numbers({m, d}, 1)), k = halves(numbers({n, d}, 2)),
             v = halves(numbers({n, d}, 3));
  const auto ran = run(*tree, {{"O", numbers({m, d}, 4)}, {"Q", q}, {"K", k}, {"V", v}});
  ASSERT_TRUE(ran) << to_string(ran.error());
  const auto in = [](const Tile& tile, std::size_t i) {
    return static_cast<double>(tile.numbers()[i]);
  };
  for (std::int64_t row = 0; row < m; ++row) {
    std::vector<double> weight;
    double sum = 0;
    for (std::int64_t key = 0; key < n; ++key) {
      double score = 0;
      for (std::int64_t x = 0; x < d; ++x) score += in(q, at(row, x, d)) * in(k, at(key, x, d));
      weight.push_back(std::exp2(0.1275 * score));
      sum += weight.back();
    }
    for (std::int64_t x = 0; x < d; ++x) {
      double wanted = 0;
      for (std::int64_t key = 0; key < n; ++key) {
        wanted += weight[static_cast<std::size_t>(key)] / sum * in(v, at(key, x, d));
      }
      EXPECT_NEAR(in(ran->at("O"), at(row, x, d)), wanted, 2e-3);
    }
  }
}

// T11: both numbers are in the message.
TEST(Run, BlocksThatMustDivide) {
  const auto tree = tree_of(must_read(bundled("attention.task")), {{"BM", 4}, {"BN", 5}, {"D", 8}});
  ASSERT_TRUE(tree);
  const auto ran = run(*tree, {{"O", numbers({4, 8}, 1)},
                               {"Q", numbers({4, 8}, 1)},
                               {"K", numbers({12, 8}, 1)},
                               {"V", numbers({12, 8}, 1)}});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "T11: N / BN: cannot divide 12 by 5 without a remainder");
}

Result<std::map<std::string, Tile>> run_text(const std::string& text,
                                             Order order = Order::forward) {
  const TaskText read = must_read(text);
  TWILL_TRY_VOID(check(read.library));
  Mapping mapping;
  mapping.name = "m";
  mapping.task = read.library.tasks[0].name;
  TWILL_TRY(const Tree tree, instantiate(read.library, mapping));
  return run(tree, {{"C", numbers({8}, 1)}, {"A", numbers({8}, 2)}}, {order, 1});
}

// T14 that only a run can find: one half stays unwritten.
TEST(Run, WritesMustBeComplete) {
  const auto ran = run_text(R"(
task t(writes C: f16[M], reads A: f16[M])
task copy(writes To: f16[M], reads From: f16[M])
leaf copy.l { To = From }
inner t.v { copy(blocks(C, 4)[0], blocks(A, 4)[0]) }
)");
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "T14: 't.v' leaves element 4 of 'C' unwritten, which it writes");
}

// T06 that only a run can find: elements left unwritten by a loop without iterations.
TEST(Run, ReadsOfWhatNobodyWrote) {
  const auto ran = run_text(R"(
task t(writes C: f16[M], reads A: f16[M])
task copy(writes To: f16[M], reads From: f16[M])
leaf copy.l { To = From }
inner t.v { a = tensor f16[M]
  srange i < M - M { copy(a, A) }
  copy(C, a) }
)");
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "T06: 'copy' reads element 0 of 'a', which was not written before");
}

// Two launches of an iteration may write the same block.
TEST(Run, BlocksOfBlocksStayApart) {
  const auto ran = run_text(R"(
task t(updates C: f16[M], reads A: f16[M])
task bump(updates C: f16[M])
leaf bump.l { C = C + 1 }
inner t.v { prange i < 2 { bump(blocks(blocks(C, 8)[0], 4)[i])
  bump(blocks(blocks(C, 8)[0], 4)[i]) } }
)");
  EXPECT_TRUE(ran) << to_string(ran.error());
}

// --- More than one product ----------------------------------------------------------------------

// Sums of several CTAs are added to the array, in any order.
TEST(SplitK, AddsPartsOfTheSum) {
  const auto tree =
      tree_of(must_read(bundled("split_k.task")), {{"U", 8}, {"V", 4}, {"W", 4}, {"S", 8}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile a = halves(numbers({9, 21}, 1)), b = halves(numbers({5, 21}, 2));
  const Tile c = numbers({9, 5}, 3);
  for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
    const auto ran = run(*tree, {{"A", a}, {"B", b}, {"C", c}}, {order, 5});
    ASSERT_TRUE(ran) << to_string(ran.error());
    for (std::int64_t i = 0; i < 9; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        double wanted = static_cast<double>(c.numbers()[at(i, j, 5)]);
        for (std::int64_t k = 0; k < 21; ++k) {
          wanted += static_cast<double>(a.numbers()[at(i, k, 21)]) *
                    static_cast<double>(b.numbers()[at(j, k, 21)]);
        }
        EXPECT_NEAR(static_cast<double>(ran->at("C").numbers()[at(i, j, 5)]), wanted, 1e-5);
      }
    }
  }
}

// Each batch is a product of its own.
TEST(Batched, EachIsAProductOfItsOwn) {
  const auto tree =
      tree_of(must_read(bundled("batched_gemm.task")), {{"U", 8}, {"V", 4}, {"W", 5}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile a = halves(numbers({3, 9, 7}, 1)), b = halves(numbers({3, 5, 7}, 2));
  const auto ran = run(*tree, {{"A", a}, {"B", b}, {"C", numbers({3, 9, 5}, 3)}}, {});
  ASSERT_TRUE(ran) << to_string(ran.error());
  for (std::int64_t l = 0; l < 3; ++l) {
    const auto part = [&](const Tile& of, std::int64_t rows, std::int64_t columns) {
      Tile tile{{rows, columns}, execute::Numbers(static_cast<std::size_t>(rows * columns))};
      for (std::size_t i = 0; i < tile.size(); ++i) {
        tile.numbers()[i] = of.numbers()[static_cast<std::size_t>(l) * tile.size() + i];
      }
      return tile;
    };
    EXPECT_EQ(part(ran->at("C"), 9, 5).numbers(),
              plain_gemm(part(a, 9, 7), part(b, 5, 7)).numbers());
  }
}

// Windows begin before the image and end after it, with zeros there.
TEST(Convolution, IsItsSumOverNeighbours) {
  constexpr std::int64_t kH = 3, kW = 6, kC = 5, kO = 4;
  const auto tree = tree_of(must_read(bundled("conv.task")), {{"P", 4}, {"V", 3}, {"D", 2}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile x = halves(numbers({kH, kW, kC}, 1)), f = halves(numbers({3, 3, kO, kC}, 2));
  const auto ran = run(*tree, {{"X", x}, {"F", f}, {"Y", numbers({kH, kW, kO}, 3)}}, {});
  ASSERT_TRUE(ran) << to_string(ran.error());
  for (std::int64_t h = 0; h < kH; ++h) {
    for (std::int64_t w = 0; w < kW; ++w) {
      for (std::int64_t o = 0; o < kO; ++o) {
        double wanted = 0;
        for (std::int64_t t = 0; t < 9 * kC; ++t) {
          const std::int64_t r = t / kC / 3, s = t / kC % 3, c = t % kC;
          const std::int64_t row = h + r - 1, column = w + s - 1;
          if (row < 0 || row >= kH || column < 0 || column >= kW) continue;
          wanted += static_cast<double>(x.numbers()[at(row * kW + column, c, kC)]) *
                    static_cast<double>(f.numbers()[at((r * 3 + s) * kO + o, c, kC)]);
        }
        EXPECT_NEAR(static_cast<double>(ran->at("Y").numbers()[at(h * kW + w, o, kO)]), wanted,
                    4e-3);
      }
    }
  }
}

// Keys after a query have no part in its softmax.
TEST(CausalAttention, IsSoftmaxUpToTheDiagonal) {
  constexpr std::int64_t kLength = 12, kD = 8;
  const auto tree =
      tree_of(must_read(bundled("attention_causal.task")), {{"BM", 4}, {"BN", 2}, {"D", kD}});
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Tile q = halves(numbers({kLength, kD}, 1)), k = halves(numbers({kLength, kD}, 2));
  const Tile v = halves(numbers({kLength, kD}, 3));
  const auto ran = run(*tree, {{"O", q}, {"Q", q}, {"K", k}, {"V", v}}, {});
  ASSERT_TRUE(ran) << to_string(ran.error());
  for (std::int64_t row = 0; row < kLength; ++row) {
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t key = 0; key <= row; ++key) {
      double score = 0;
      for (std::int64_t d = 0; d < kD; ++d) {
        score += static_cast<double>(q.numbers()[at(row, d, kD)]) *
                 static_cast<double>(k.numbers()[at(key, d, kD)]);
      }
      weights.push_back(std::exp2(score * 0.1275));
      sum += weights.back();
    }
    for (std::int64_t d = 0; d < kD; ++d) {
      double wanted = 0;
      for (std::int64_t key = 0; key <= row; ++key) {
        wanted += weights[static_cast<std::size_t>(key)] / sum *
                  static_cast<double>(v.numbers()[at(key, d, kD)]);
      }
      EXPECT_NEAR(static_cast<double>(ran->at("O").numbers()[at(row, d, kD)]), wanted, 2e-3);
    }
  }
}

// T13: a pick is an element of the tensor, and a window that says `exact` lies within it.
TEST(Run, PartsBeyondTheEdge) {
  const std::string tasks = R"(
task t(updates C: f16[M], reads A: f16[M])
task bump(updates C: f16[M])
leaf bump.l { C = C + 1 }
)";
  const auto inside = run_text(tasks + "inner t.v { bump(windows(C, 4 by 1)[-2]) }");
  EXPECT_TRUE(inside) << to_string(inside.error());
  const auto beyond = run_text(tasks + "inner t.v { bump(windows(C, 4 by 1, exact)[6]) }");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message,
            "T13: windows(C, 4 by 1, exact)[6] at [6] goes beyond 'C', which is [8] there");
  const auto last = run_text(tasks + "inner t.v { bump(windows(C, 3 by 1 every 3, exact)[1]) }");
  EXPECT_TRUE(last) << to_string(last.error());
  EXPECT_FALSE(run_text(tasks + "inner t.v { bump(windows(C, 3 by 1 every 3, exact)[2]) }"));
}

// Elements of a window at a distance are elements of the tensor, or of its part. Beyond the edge
// there are zeros on both sides. Windows without common elements may be written at once.
TEST(Run, WindowsOfElementsThatAreApart) {
  const auto ran = run_text(R"(
task t(updates C: f16[M], reads A: f16[M])
task half(updates C: f16[M], reads A: f16[M])
task add(updates C: f16[M], reads A: f16[M])
inner t.v { prange i < 2 { half(windows(C, 4 by 5 every 4)[i], windows(A, 4 by 3 every 2)[i * 2 - 1]) } }
inner half.v { srange j < 2 { add(blocks(C, 2)[j], windows(A, 2 by 1 every 3)[j]) } }
leaf add.l { C = C * 0 + A }
)");
  ASSERT_TRUE(ran) << to_string(ran.error());
  const execute::Numbers a = numbers({8}, 2).numbers();
  const execute::Numbers c = numbers({8}, 1).numbers();
  const auto at = [&](int x) { return x < 0 || x > 7 ? 0.0F : a[static_cast<std::size_t>(x)]; };
  const execute::Numbers& made = ran->at("C").numbers();
  // Window i has elements 5 i + 4 x of C. The window of A begins at 6 i - 3 and has every second
  // element.
  constexpr double kRounding = 1e-3;
  EXPECT_NEAR(made[0], at(-3), kRounding);
  EXPECT_NEAR(made[4], at(3), kRounding);
  EXPECT_NEAR(made[5], at(3), kRounding);
  for (const std::size_t untouched : {1U, 2U, 3U, 6U, 7U}) {
    EXPECT_NEAR(made[untouched], c[untouched], kRounding);
  }
}

// An iteration may read elements to which only itself adds.
TEST(Run, SumsAndReadsOfOneBlock) {
  const auto ran = run_text(R"(
task t(updates C: f16[M], reads A: f16[M])
task sum(reduces(+) C: f16[M])
task copy(writes To: f16[M], reads From: f16[M])
leaf sum.l { C += 1 }
leaf copy.l { To = From }
inner t.v { prange i < 8 { own = tensor f16[1]
  copy(own, blocks(C, 1)[i])
  sum(blocks(C, 1)[i]) } }
)");
  EXPECT_TRUE(ran) << to_string(ran.error());
}

// Each comparison of sizes, and its opposite.
TEST(Run, ConditionsOfSizes) {
  const auto ran = run_text(R"(
task t(updates C: f16[M], reads A: f16[M])
task one(writes C: f16[M])
task none(writes C: f16[M])
leaf one.l { C = 1 }
leaf none.l { C = 0 }
inner t.v {
  srange i < 8 {
    if i < 1 { one(blocks(C, 1)[i]) } else {
      if i == 3 { one(blocks(C, 1)[i]) } else {
        if i >= 6 { one(blocks(C, 1)[i]) } else { none(blocks(C, 1)[i]) }
      }
    }
  }
}
)");
  ASSERT_TRUE(ran) << to_string(ran.error());
  const Tile c = ran->at("C");
  EXPECT_EQ(std::vector<float>(c.numbers().begin(), c.numbers().end()),
            (std::vector<float>{1, 0, 0, 1, 0, 0, 1, 1}));
}

/// Greatest element and sum of each row, in blocks of 4 columns with that edge.
std::string rows_with(const std::string& edge) {
  return R"(
task rows(writes y: f32[M], writes z: f32[M], reads X: f32[M, N])
task begin(writes y: f32[M], writes z: f32[M])
task fold(updates y: f32[M], updates z: f32[M], reads X: f32[M, N])
task give(writes y: f32[M], writes z: f32[M], reads s: f32[M], reads t: f32[M])
inner rows.host { prange i < cdiv(M, 2) { rows(blocks(y, 2, clip)[i], blocks(z, 2, clip)[i], blocks(X, 2, N)[i, 0]) } }
inner rows.all {
  s = tensor f32[M]
  t = tensor f32[M]
  begin(s, t)
  srange j < cdiv(N, 4) { fold(s, t, blocks(X, M, 4, )" +
         edge + R"()[0, j]) }
  give(y, z, s, t)
}
leaf begin.l { y = -inf  z = 0 }
leaf fold.l { y = max(y, row_max(X))  z = z + row_sum(exp(X)) }
leaf give.l { y = s  z = t }
map m for rows {}
)";
}

// Protects: elements beyond an edge have the block's stated value. A fill of -inf changes neither a
// greatest element nor a sum of exponentials, while zeros would. All passes of the flow keep the
// fill.
TEST(Run, WhatIsBeyondAnEdgeIsTheNumberOfTheBlock) {
  const std::map<std::string, Tile> arrays = {
      {"y", numbers({3}, 1)}, {"z", numbers({3}, 2)}, {"X", numbers({3, 7}, 3)}};
  const auto tree = tree_of(must_read(rows_with("fill(-inf)")));
  ASSERT_TRUE(tree) << to_string(tree.error());
  const auto ran = run(*tree, arrays);
  ASSERT_TRUE(ran) << to_string(ran.error());
  const auto& x = arrays.at("X").numbers();
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(ran->at("y").numbers()[row], *std::max_element(&x[7 * row], &x[7 * row] + 7));
    double sum = 0;
    for (std::size_t e = 0; e < 7; ++e) sum += std::exp(static_cast<double>(x[7 * row + e]));
    EXPECT_NEAR(ran->at("z").numbers()[row], sum, 1e-5);
  }
  for (const Flow& flow : {analyse(*tree), eliminate(vectorize(analyse(*tree)))}) {
    const auto of_flow = run(flow, arrays);
    ASSERT_TRUE(of_flow) << to_string(of_flow.error());
    EXPECT_EQ(of_flow->at("y").numbers(), ran->at("y").numbers());
    EXPECT_EQ(of_flow->at("z").numbers(), ran->at("z").numbers());
  }
  const auto one = tree_of(must_read(rows_with("fill(1)")));
  ASSERT_TRUE(one);
  EXPECT_EQ(run(*one, arrays)->at("y").numbers(), execute::Numbers({1, 1, 1}));

  const auto exact = tree_of(must_read(rows_with("exact")));
  ASSERT_TRUE(exact);
  EXPECT_FALSE(run(*exact, arrays)) << "blocks of 4 do not divide 7";
}

// Protects: edges are printed as they are read.
TEST(Run, EdgesArePrintedAsTheyAreRead) {
  for (const char* edge : {"exact", "fill(-inf)", "fill(0.5)", "fill(-2)"}) {
    const TaskText text = must_read(rows_with(edge));
    const std::string printed = print_tasks(text);
    EXPECT_NE(printed.find(std::string("blocks(X, M, 4, ") + edge + ")"), std::string::npos)
        << printed;
    EXPECT_NE(printed.find("blocks(y, 2, clip)"), std::string::npos) << printed;
    EXPECT_EQ(must_read(printed), text);
  }
}

}  // namespace
}  // namespace twill::tasks
