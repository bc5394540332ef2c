#include <cmath>

#include "programs.h"
#include "twill/tasks/evaluate.h"

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

// Ragged ends read as zero and are not written: sums along K are in the order of plain loops.
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

// In double precision with all keys at once: what softmax is.
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

// T14 where only running it can tell: one half stays unwritten.
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

// T06 where only running it can tell: what a loop without iterations would have written.
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
  EXPECT_EQ(ran.error().message, "T06: 'copy' reads element 0 of 'a', which nobody has written");
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

}  // namespace
}  // namespace twill::tasks
