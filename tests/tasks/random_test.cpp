#include <array>
#include <random>

#include <fmt/format.h>

#include "programs.h"
#include "twill/tasks/flow.h"

/// Random task programs and random mappings: no pass and no mapping changes a bit.
namespace twill::tasks {
namespace {

using execute::Tile;

constexpr int kDeepest = 4;

/// A program in text. Its tasks `t0`, `t1` ... have one signature, each launches the next tasks,
/// and the entry returns their results.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    task(0);
    std::string out;
    for (const std::string& it : signatures_) out += it + "\n";
    out += "task root(writes C: f32[M, N], reads A: f32[M, N])\n";
    out += "task zero(writes S: f32[M, N])\ntask give(writes C: f32[M, N], reads S: f32[M, N])\n";
    for (const std::string& it : variants_) out += it + "\n";
    const bool columns = below(2) == 0;
    out += fmt::format(
        "inner root.host tunable U, V {{ prange i < cdiv(M, U){0} {{\n"
        "  root(blocks(C, U, {1})[i, {2}], blocks(A, U, {1})[i, {2}])\n}} }}\n",
        columns ? ", j < cdiv(N, V)" : "", columns ? "V" : "N", columns ? "j" : "0");
    out += "inner root.block {\n  S = tensor f32[M, N]\n  zero(S)\n  t0(S, A)\n  give(C, S)\n}\n";
    out += "leaf zero.l { S = 0 }\nleaf give.l { C = S * 0.5 }\n";
    return out + mapping(columns);
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  /// An expression on the elements of S and A, or on whole rows.
  std::string expression() {
    static const std::array<const char*, 9> kAll = {
        "S + A",
        "S * 0.5 - A",
        "max(S, A * 2)",
        "select(A < 0, S, S + A * A)",
        "S + column(row_sum(A))",
        "S * 0.25 + column(row_sum(S)) * 0.125 + A",
        "S + abs(A) * exp(A * 0.125)",
        "select(column(iota(M)) < row(iota(N)), S + A, S - A)",
        "S + cast(f32, cast(f16, A * 0.3))"};
    return kAll[below(kAll.size())];
  }

  /// Adds task `tN` with its variants and launched tasks; returns its name.
  std::string task(int depth) {
    const std::string name = fmt::format("t{}", count_++);
    signatures_.push_back(fmt::format("task {}(updates S: f32[M, N], reads A: f32[M, N])", name));
    const bool is_leaf = depth + 1 >= kDeepest || below(4) == 0;
    if (!is_leaf) {
      const std::string body = inner(depth);
      variants_.push_back(fmt::format("inner {}.inner tunable W {{\n{}}}", name, body));
    } else {
      variants_.push_back(fmt::format("leaf {}.leaf {{ S = {} }}", name, expression()));
    }
    all_.push_back(name + (is_leaf ? ".leaf" : ".inner"));
    return name;
  }

  std::string inner(int depth) {
    switch (below(6)) {
      case 0:  // rows, in any order
        return fmt::format(
            "  prange i < cdiv(M, W) {{ {}(blocks(S, W, N)[i, 0], blocks(A, W, N)[i, 0]) }}\n",
            task(depth + 1));
      case 1:  // columns, in order
        return fmt::format(
            "  srange j < cdiv(N, W) {{ {}(blocks(S, M, W)[0, j], blocks(A, M, W)[0, j]) }}\n",
            task(depth + 1));
      case 2: {  // one after the other, over a temporary
        const std::string first = task(depth + 1), second = task(depth + 1);
        signatures_.push_back(
            fmt::format("task {}_copy(writes T: f32[M, N], reads S: f32[M, N])", first));
        variants_.push_back(fmt::format("leaf {}_copy.l {{ T = S * 0.75 }}", first));
        return fmt::format("  T = tensor f32[M, N]\n  {0}_copy(T, S)\n  {0}(T, A)\n  {1}(S, T)\n",
                           first, second);
      }
      case 3: {  // a loop with a condition
        const std::string first = task(depth + 1), second = task(depth + 1);
        return fmt::format("  srange k < 3 {{ if k < {} {{ {}(S, A) }} else {{ {}(S, A) }} }}\n",
                           below(4), first, second);
      }
      case 4: {  // the same block repeatedly
        return fmt::format("  srange k < {} {{ {}(blocks(S, M, N)[0, 0], A) }}\n", below(3),
                           task(depth + 1));
      }
      default: {  // blocks in two dimensions, cut once more
        return fmt::format(
            "  prange i < cdiv(M, W), j < cdiv(N, 3) {{ {}(blocks(blocks(S, W, N)[i, 0], W, 3)[0, "
            "j], "
            "blocks(A, W, 3)[i, j]) }}\n",
            task(depth + 1));
      }
    }
  }

  std::string mapping(bool columns) {
    static const std::array<const char*, 3> kMemories = {"shared", "register", "none"};
    std::string out = fmt::format("map m for root {{ U = {} W = {}", 1 + below(7), 1 + below(4));
    if (columns) out += fmt::format(" V = {}", 1 + below(6));
    if (!columns) out += " V = 1";
    for (const std::string& it : all_) {
      if (below(2) == 0) continue;
      const bool is_leaf = it.ends_with(".leaf");
      out += fmt::format("\n  m_{}: {}", it.substr(0, it.find('.')), it);
      for (const char* argument : {"S", "A"}) {
        if (below(2) == 0) continue;
        out += fmt::format(" {}: {}", argument, kMemories[below(is_leaf ? 2 : 3)]);
      }
    }
    return out + "\n}\n";
  }

  std::mt19937_64 random_;
  int count_ = 0;
  std::vector<std::string> signatures_, variants_, all_;
};

/// Whether the program ran; a refused program is refused before any pass.
bool keeps_every_bit(std::uint64_t seed) {
  RandomProgram program(seed);
  const std::string text = program.text();
  const TaskText read = must_read(text);
  const auto tree = tree_of(read);
  if (!tree) return false;
  std::mt19937_64 random(seed);
  const execute::Shape shape = {static_cast<std::int64_t>(1 + random() % 9),
                                static_cast<std::int64_t>(1 + random() % 8)};
  const std::map<std::string, Tile> arrays = {{"C", numbers(shape, 1)}, {"A", numbers(shape, 2)}};
  const auto meant = run(*tree, arrays);
  if (!meant) return false;
  for (const Order order : {Order::backward, Order::shuffled}) {
    const auto again = run(*tree, arrays, {order, seed});
    EXPECT_TRUE(again) << text;
    if (!again) return true;
    EXPECT_EQ(again->at("C").numbers(), meant->at("C").numbers()) << text;
  }
  Flow flow = analyse(*tree);
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 1) flow = vectorize(std::move(flow));
    if (pass == 2) flow = eliminate(std::move(flow));
    const auto ran = run(flow, arrays);
    EXPECT_TRUE(ran) << "pass " << pass << ": " << to_string(ran.error()) << text;
    if (!ran) return true;
    EXPECT_EQ(ran->at("C").numbers(), meant->at("C").numbers())
        << "pass " << pass << ", seed " << seed << "\n"
        << text << to_string(flow);
  }
  return true;
}

// Protects: every pass of the flow keeps all bits of random programs. These have ragged blocks,
// nested ranges, branches, temporaries and memories of any kind. Iterations of pranges run in any
// order.
TEST(RandomTasks, PassesKeepEveryBit) {
  int ran = 0;
  for (std::uint64_t seed = 1; seed <= 1000 && !HasFailure(); ++seed) {
    ran += keeps_every_bit(seed) ? 1 : 0;
  }
  EXPECT_GT(ran, 500) << "of 1000 programs most are to run";
}

/// A mapping of `task` in text, with random tiles and levels.
std::string random_mapping(std::mt19937_64& random, const std::string& task,
                           const std::vector<std::string>& tunables,
                           const std::vector<std::string>& leaves) {
  std::string out = "map m for " + task + " {";
  for (const std::string& name : tunables) out += fmt::format(" {} = {}", name, 1 + random() % 9);
  if (random() % 2 == 0) out += fmt::format(" depth = {}", 1 + random() % 4);
  if (random() % 2 == 0) out += random() % 2 == 0 ? " specialize" : " specialize = no";
  for (const std::string& leaf : leaves) {
    if (random() % 2 == 0) continue;
    static const std::array<const char*, 2> kLevels = {"block", "warpgroup"};
    out += fmt::format("\n  m_{}: {} at {}", leaf.substr(0, leaf.find('.')), leaf,
                       kLevels[random() % kLevels.size()]);
  }
  return out + "\n}\n";
}

std::string without_mappings(const std::string& name) {
  const std::string text = bundled(name);
  return text.substr(0, text.find("\nmap ") + 1);
}

// Protects: a mapping cannot change results. Tiles of a product change no sum, since all sums go
// along K in order. So 200 mappings leave the same bits, in the tree and after each pass.
TEST(RandomMappings, LeaveTheBitsOfAProduct) {
  const std::string text = without_mappings("gemm.task");
  std::mt19937_64 random(5);
  const std::map<std::string, Tile> arrays = {
      {"C", numbers({13, 9}, 1)}, {"A", numbers({13, 11}, 2)}, {"B", numbers({9, 11}, 3)}};
  std::optional<execute::Numbers> expected;
  for (int i = 0; i < 200; ++i) {
    const std::string mapping =
        random_mapping(random, "gemm", {"U", "V", "W"}, {"gemm_add.wgmma", "clear.zero"});
    const auto tree = tree_of(must_read(text + mapping));
    ASSERT_TRUE(tree) << to_string(tree.error()) << mapping;
    const auto meant = run(*tree, arrays);
    ASSERT_TRUE(meant) << to_string(meant.error()) << mapping;
    if (!expected) expected = meant->at("C").numbers();
    EXPECT_EQ(meant->at("C").numbers(), *expected) << mapping;
    const auto flow = run(eliminate(vectorize(analyse(*tree))), arrays);
    ASSERT_TRUE(flow) << to_string(flow.error()) << mapping;
    EXPECT_EQ(flow->at("C").numbers(), *expected) << mapping;
  }
}

// Protects: mappings of attention. The number of keys in a block changes the order of its sums.
// With the same number the bits are equal; with another number the results are close.
TEST(RandomMappings, LeaveTheBitsOfAttention) {
  const std::string text = without_mappings("attention.task");
  std::mt19937_64 random(6);
  const std::map<std::string, Tile> arrays = {{"O", numbers({7, 8}, 1)},
                                              {"Q", numbers({7, 8}, 2)},
                                              {"K", numbers({12, 8}, 3)},
                                              {"V", numbers({12, 8}, 4)}};
  std::map<std::int64_t, execute::Numbers> expected;  // by number of keys in a block
  for (int i = 0; i < 200; ++i) {
    TaskText read = must_read(
        text + random_mapping(random, "attention", {"BM"}, {"softmax.online", "finish.quotient"}));
    static const std::array<std::int64_t, 5> kKeys = {1, 2, 4, 6, 12};
    const std::int64_t keys = kKeys[random() % kKeys.size()];
    const auto tree = tree_of(read, {{"BN", keys}, {"D", 8}});
    ASSERT_TRUE(tree) << to_string(tree.error());
    const auto meant = run(*tree, arrays);
    ASSERT_TRUE(meant) << to_string(meant.error());
    const auto [known, is_new] = expected.emplace(keys, meant->at("O").numbers());
    EXPECT_EQ(meant->at("O").numbers(), known->second) << keys;
    const execute::Numbers& first = expected.begin()->second;
    for (std::size_t e = 0; is_new && e < first.size(); ++e) {
      EXPECT_NEAR(known->second[e], first[e], 4e-3) << keys;
    }
    const auto flow = run(eliminate(vectorize(analyse(*tree))), arrays);
    ASSERT_TRUE(flow) << to_string(flow.error());
    EXPECT_EQ(flow->at("O").numbers(), known->second) << keys;
  }
  EXPECT_EQ(expected.size(), 5U);
}

}  // namespace
}  // namespace twill::tasks
