#include "twill/frontend/ttgir/merge_equal.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "execute/flat_text.h"
#include "execute/running.h"
#include "twill/frontend/ttgir/structure.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/frontend/ttgir/without_unread.h"
#include "twill/ir/loop.h"

// Compares programs with merged values with their original texts: memory has the same bits, and
// unequal values stay apart.
namespace twill::execute {
namespace {

using testing::Bits;
using testing::edited;
using testing::Edits;
using testing::read;
using testing::text_of;

Bits written(const ir::Program& program, const Launch& launch) {
  Memory memory(1);
  const auto result = testing::run_programs(program, memory, launch, {{1, 0, 0}});
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  Bits bits;
  for (std::size_t a = 0; a < memory.array_count(); ++a) {
    bits.emplace_back();
    for (const auto& [index, value] : memory.written(a)) {
      bits.back().emplace(index, std::bit_cast<std::uint64_t>(value));
    }
  }
  return bits;
}

std::ptrdiff_t count(const ir::Program& program, ir::OpKind kind) {
  const auto ops = ir::walk(program, program.module());
  return std::count_if(ops.begin(), ops.end(),
                       [&](ir::OpId op) { return program.op(op).kind == kind; });
}

/// The program with equal values merged; checks that the result is well-formed, and reads as it
/// prints.
std::optional<frontend::ttgir::Merged> merged(const ir::Program& program) {
  auto found = frontend::ttgir::merge_equal(program);
  if (!found) return found;
  const auto right = frontend::ttgir::check_structure(found->program);
  EXPECT_TRUE(right.has_value()) << to_string(right.error());
  const std::string text = frontend::ttgir::to_text(found->program);
  const auto again = frontend::read_ttgir(text, "merged.ttgir");
  EXPECT_TRUE(again.has_value()) << to_string(again.error()) << text;
  return found;
}

// Protects: attention with a bias, whose softmax Triton writes in two layouts. Merging leaves one
// softmax, with one carried maximum and sum, and stores the same bits.
TEST(MergeEqual, ASoftmaxInTwoLayoutsIsOne) {
  std::size_t kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TWILL_SOURCE_DIR) +
                                                               "/kernels/fa_fwd_bias/sm_90")) {
    const ir::Program program = read(text_of(entry.path()));
    const auto one = merged(program);
    ASSERT_TRUE(one.has_value()) << entry.path();
    EXPECT_EQ(count(program, ir::OpKind::exp2), 4) << entry.path();
    EXPECT_EQ(count(one->program, ir::OpKind::exp2), 2) << entry.path();
    EXPECT_EQ(count(program, ir::OpKind::reduce), 3) << entry.path();
    EXPECT_EQ(count(one->program, ir::OpKind::reduce), 2) << entry.path();
    const auto loops = ir::loops(one->program, one->program.module());
    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(loops[0].carried.size(), 3U) << entry.path();
    Launch launch;
    launch.size = 256;
    EXPECT_EQ(written(one->program, launch), written(program, launch)) << entry.path();
    ++kernels;
  }
  EXPECT_EQ(kernels, 4U);
}

/// Two running maxima and sums in two layouts, each of which is stored.
const std::string kTwice =
    R"(#A = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#B = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func public @f(%a: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %infA = arith.constant dense<0xFF800000> : tensor<16xf32, #A>
  %infB = arith.constant dense<0xFF800000> : tensor<16xf32, #B>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #A>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #A>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #A>
  %op = tt.addptr %os, %i : tensor<16x!tt.ptr<f32>, #A>, tensor<16xi32, #A>
  %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%mA = %infA, %mB = %infB, %lA = %infA, %lB = %infB) -> (tensor<16xf32, #A>, tensor<16xf32, #B>, tensor<16xf32, #A>, tensor<16xf32, #B>) : i32 {
    %at = tt.splat %k : i32 -> tensor<16xi32, #A>
    %j = arith.addi %at, %i : tensor<16xi32, #A>
    %ap = tt.addptr %as, %j : tensor<16x!tt.ptr<f32>, #A>, tensor<16xi32, #A>
    %xA = tt.load %ap : tensor<16x!tt.ptr<f32>, #A>
    %yA = tt.load %ap : tensor<16x!tt.ptr<f32>, #A>
    %xB = ttg.convert_layout %yA : tensor<16xf32, #A> -> tensor<16xf32, #B>
    %nA = arith.maxnumf %mA, %xA : tensor<16xf32, #A>
    %nB = arith.maxnumf %mB, %xB : tensor<16xf32, #B>
    %dA = arith.subf %mA, %nA : tensor<16xf32, #A>
    %dB = arith.subf %mB, %nB : tensor<16xf32, #B>
    %eA = math.exp2 %dA : tensor<16xf32, #A>
    %eB = math.exp2 %dB : tensor<16xf32, #B>
    %sA = arith.addf %lA, %eA : tensor<16xf32, #A>
    %sB = arith.addf %lB, %eB : tensor<16xf32, #B>
    scf.yield %nA, %nB, %sA, %sB : tensor<16xf32, #A>, tensor<16xf32, #B>, tensor<16xf32, #A>, tensor<16xf32, #B>
  }
  %mC = ttg.convert_layout %all#1 : tensor<16xf32, #B> -> tensor<16xf32, #A>
  %lC = ttg.convert_layout %all#3 : tensor<16xf32, #B> -> tensor<16xf32, #A>
  %m = arith.mulf %all#0, %mC : tensor<16xf32, #A>
  %l = arith.mulf %all#2, %lC : tensor<16xf32, #A>
  %r = arith.addf %m, %l : tensor<16xf32, #A>
  tt.store %op, %r : tensor<16x!tt.ptr<f32>, #A>
  tt.return
}
)";

Launch turns(int n) {
  Launch launch;
  launch.arguments = {{"n", n}};
  return launch;
}

// Protects: carried values merge although each is updated separately, also in a loop without an
// iteration.
TEST(MergeEqual, CarriedValuesAreMerged) {
  const ir::Program program = read(kTwice);
  const auto one = merged(program);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(count(one->program, ir::OpKind::exp2), 1);
  EXPECT_EQ(count(one->program, ir::OpKind::load), 1);
  EXPECT_EQ(ir::loops(one->program, one->program.module())[0].carried.size(), 2U);
  for (const int n : {0, 1, 2, 7}) {
    EXPECT_EQ(written(one->program, turns(n)), written(program, turns(n))) << n;
  }
}

// Protects: unread products and copies are removed. All other ops stay.
TEST(WithoutUnread, ProductsWithoutReadersAreLeftOut) {
  const std::string text = text_of("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir");
  const std::string product = "      scf.yield %12 ";
  const std::string unread =
      "      %dead = ttg.local_alloc %7 : (tensor<128x64xf16, #blocked>) -> "
      "!ttg.memdesc<128x64xf16, #shared, #smem>\n"
      "      %beside = ttng.warp_group_dot %dead, %11, %12 {inputPrecision = 0 : i32} : "
      "!ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> "
      "tensor<128x128xf32, #mma>\n";
  const ir::Program whole = read(edited(text, {{product, unread + product}}));
  EXPECT_EQ(count(whole, ir::OpKind::wgmma), 2);
  const ir::Program left = frontend::ttgir::without_unread(whole);
  EXPECT_TRUE(frontend::ttgir::check_structure(left).has_value());
  EXPECT_EQ(count(left, ir::OpKind::wgmma), 1);
  EXPECT_EQ(frontend::ttgir::to_text(left),
            frontend::ttgir::to_text(frontend::ttgir::without_unread(read(text))));
}

// Protects: a message about a merged op names the lines of both ops.
TEST(MergeEqual, BothLinesAreKnown) {
  const ir::Program program = read(kTwice);
  const auto one = merged(program);
  ASSERT_TRUE(one.has_value());
  const auto exp2 = std::find_if(one->ops.begin(), one->ops.end(),
                                 [&](const frontend::ttgir::MergedOp& merged_op) {
                                   return program.op(merged_op.removed).kind == ir::OpKind::exp2;
                                 });
  ASSERT_NE(exp2, one->ops.end());
  EXPECT_EQ(program.op(exp2->removed).line, program.op(exp2->kept).line + 1);
}

struct NearMiss {
  const char* what;
  Edits edits;
};

const NearMiss kNearMisses[] = {
    {"one begins elsewhere",
     {{"%infB = arith.constant dense<0xFF800000>", "%infB = arith.constant dense<1.000000e+00>"}}},
    {"zeros of two signs",
     {{"%infA = arith.constant dense<0xFF800000>", "%infA = arith.constant dense<0.000000e+00>"},
      {"%infB = arith.constant dense<0xFF800000>", "%infB = arith.constant dense<-0.000000e+00>"}}},
    {"one is updated otherwise", {{"%nB = arith.maxnumf %mB", "%nB = arith.minnumf %mB"}}},
    {"NaN is treated otherwise", {{"%nB = arith.maxnumf %mB", "%nB = arith.maximumf %mB"}}},
    {"something is stored between two loads",
     {{"    %yA", "    tt.store %ap, %mA : tensor<16x!tt.ptr<f32>, #A>\n    %yA"}}},
    {"an atomic stands between two loads",
     {{"    %yA",
       "    %old = tt.atomic_rmw fadd, relaxed, gpu, %ap, %mA : (tensor<16x!tt.ptr<f32>, #A>, "
       "tensor<16xf32, #A>) -> tensor<16xf32, #A>\n    %yA"}}},
    {"a conditional between two loads stores",
     {{"    %yA",
       "    %first = arith.cmpi eq, %k, %c0 : i32\n    scf.if %first {\n      tt.store %ap, %mA : "
       "tensor<16x!tt.ptr<f32>, #A>\n    }\n    %yA"}}},
    {"one load is volatile", {{"%yA = tt.load %ap", "%yA = tt.load %ap {isVolatile = true}"}}},
    {"a loop stores, later in its body, what it loads",
     {{"  %all:4 =", "  %z = tt.load %op : tensor<16x!tt.ptr<f32>, #A>\n  %all:4 ="},
      {"%xA = tt.load %ap", "%xA = tt.load %op"},
      {"%xB = ttg.convert_layout %yA", "%xB = ttg.convert_layout %z"},
      {"    scf.yield", "    tt.store %op, %sA : tensor<16x!tt.ptr<f32>, #A>\n    scf.yield"}}},
    {"equal values are chosen from by two conditions",
     {{"    %nA",
       "    %odd = arith.cmpi sgt, %k, %c1 : i32\n    %any = arith.cmpi sgt, %n, %c1 : i32\n"
       "    %uA = scf.if %odd -> (tensor<16xf32, #A>) {\n      scf.yield %xA : tensor<16xf32, #A>\n"
       "    } else {\n      scf.yield %infA : tensor<16xf32, #A>\n    }\n"
       "    %uB = scf.if %any -> (tensor<16xf32, #B>) {\n      scf.yield %xB : tensor<16xf32, #B>\n"
       "    } else {\n      scf.yield %infB : tensor<16xf32, #B>\n    }\n    %nA"},
      {"arith.maxnumf %mA, %xA", "arith.maxnumf %mA, %uA"},
      {"arith.maxnumf %mB, %xB", "arith.maxnumf %mB, %uB"}}},
    {"a load is of another place",
     {{"%yA = tt.load %ap",
       "%bp = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>, #A>, tensor<16xi32, #A>\n    %yA = "
       "tt.load %bp"}}},
};

// Protects: values that only look equal stay two values.
TEST(MergeEqual, NearMissesStay) {
  for (const NearMiss& miss : kNearMisses) {
    const ir::Program program = read(edited(kTwice, miss.edits));
    const auto one = merged(program);
    const ir::Program& now = one ? one->program : program;
    EXPECT_EQ(count(now, ir::OpKind::exp2), 2) << miss.what;
    EXPECT_EQ(count(now, ir::OpKind::fmaxnum) + count(now, ir::OpKind::fminnum) +
                  count(now, ir::OpKind::fmaximum),
              2)
        << miss.what;
    EXPECT_EQ(ir::loops(now, now.module())[0].carried.size(), 4U) << miss.what;
    for (const int n : {0, 1, 5}) {
      EXPECT_EQ(written(now, turns(n)), written(program, turns(n))) << miss.what;
    }
  }
}

/// Writes random functions with vectors in two layouts, many of which are computed twice.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string text() {
    text_ = kTwice.substr(0, kTwice.find("  %all:4"));
    text_ += "  %zeroA = arith.constant dense<0.000000e+00> : tensor<16xf32, #A>\n";
    text_ += "  %zeroB = arith.constant dense<0.000000e+00> : tensor<16xf32, #B>\n";
    values_ = {{{"%infA", "%zeroA"}, {"%infB", "%zeroB"}}};
    block(below(4), "  ", 0);
    const std::string r = any(0);
    text_ += "  tt.store %op, " + r + " : tensor<16x!tt.ptr<f32>, #A>\n  tt.return\n}\n";
    return text_;
  }

 private:
  using Values = std::array<std::vector<std::string>, 2>;  ///< for each layout

  std::size_t below(std::size_t count) { return random_() % count; }
  static std::string type(std::size_t layout) {
    return std::string("tensor<16xf32, #") + (layout == 0 ? "A>" : "B>");
  }
  std::string fresh() { return "%v" + std::to_string(++count_); }

  /// Picks a value, preferably the newest.
  std::string any(std::size_t layout) {
    const auto& known = values_[layout];
    const std::size_t last = std::min<std::size_t>(known.size(), below(2) == 0 ? 4 : known.size());
    return known[known.size() - 1 - below(last)];
  }

  void op(const std::string& indent, std::size_t layout) {
    const char* const binary[] = {"arith.addf", "arith.mulf", "arith.maxnumf", "arith.subf"};
    const std::string what = binary[below(4)];
    std::string a = any(layout);
    std::string b = any(layout);
    const std::string made = fresh();
    const std::string in = indent + made + " = ";
    if (below(5) == 0) {
      text_ += in + "math.exp2 " + a + " : " + type(layout) + "\n";
    } else if (below(4) == 0) {
      text_ += in + "ttg.convert_layout " + any(1 - layout) + " : " + type(1 - layout) + " -> " +
               type(layout) + "\n";
    } else {
      text_ += in + what + " " + a + ", " + b + " : " + type(layout) + "\n";
    }
    values_[layout].push_back(made);
    if (below(2) == 0) mirror(indent, what, a, b, layout);
  }

  /// Writes the same op again, in the other layout.
  void mirror(const std::string& indent, const std::string& what, std::string a, std::string b,
              std::size_t layout) {
    for (std::string* operand : {&a, &b}) {
      const std::string other = fresh();
      text_ += indent + other + " = ttg.convert_layout " + *operand + " : " + type(layout) +
               " -> " + type(1 - layout) + "\n";
      *operand = other;
    }
    const std::string first = fresh();
    text_ += indent + first + " = " + what + " " + a + ", " + b + " : " + type(1 - layout) + "\n";
    values_[1 - layout].push_back(first);
  }

  void load(const std::string& indent, const std::string& at) {
    for (std::size_t twice = 0; twice < 2; ++twice) {
      const std::string made = fresh();
      text_ += indent + made + " = tt.load " + at + " : tensor<16x!tt.ptr<f32>, #A>\n";
      values_[0].push_back(made);
      if (below(3) == 0) {
        text_ += indent + "tt.store " + at + ", " + any(0) + " : tensor<16x!tt.ptr<f32>, #A>\n";
      }
    }
  }

  void block(std::size_t ops, const std::string& indent, int depth) {
    for (std::size_t i = 0; i < ops + 2; ++i) {
      switch (below(depth < 2 ? 6 : 4)) {
        case 0:
          load(indent, "%op");
          break;
        case 4:
          loop(indent, depth);
          break;
        case 5:
          conditional(indent, depth);
          break;
        default:
          op(indent, below(2));
      }
    }
  }

  void loop(const std::string& indent, int depth) {
    const Values outside = values_;
    const std::string name = fresh();
    std::string arguments;
    std::string types;
    std::vector<std::size_t> layouts;
    Values inside = values_;
    for (std::size_t i = 0; i < 2 + below(4); ++i) {
      const std::size_t layout = below(2);
      const std::string argument = fresh();
      arguments += (i == 0 ? "" : ", ") + argument + " = " + any(layout);
      types += (i == 0 ? "" : ", ") + type(layout);
      inside[layout].push_back(argument);
      layouts.push_back(layout);
    }
    const std::string count = std::to_string(layouts.size());
    text_ += indent + name + (layouts.size() > 1 ? ":" + count : "") + " = scf.for " + fresh() +
             " = %c0 to %n step %c1 iter_args(" + arguments + ") -> (" + types + ") : i32 {\n";
    values_ = inside;
    block(3, indent + "  ", depth + 1);
    text_ += indent + "  scf.yield ";
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      text_ += (i == 0 ? "" : ", ") + any(layouts[i]);
    }
    text_ += " : " + types + "\n" + indent + "}\n";
    values_ = outside;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      values_[layouts[i]].push_back(name + (layouts.size() > 1 ? "#" + std::to_string(i) : ""));
    }
  }

  void conditional(const std::string& indent, int depth) {
    const Values outside = values_;
    const std::string condition = fresh();
    const std::string name = fresh();
    const std::size_t layout = below(2);
    text_ += indent + condition + " = arith.cmpi " + (below(2) == 0 ? "eq" : "sgt") +
             ", %n, %c1 : i32\n";
    text_ += indent + name + " = scf.if " + condition + " -> (" + type(layout) + ") {\n";
    for (const bool first : {true, false}) {
      block(1, indent + "  ", depth + 1);
      text_ += indent + "  scf.yield " + any(layout) + " : " + type(layout) + "\n" + indent +
               (first ? "} else {\n" : "}\n");
      values_ = outside;
    }
    values_[layout].push_back(name);
  }

  std::mt19937 random_;
  std::string text_;
  int count_ = 0;
  Values values_;
};

// Protects: merging in loops, nested loops, conditionals and around stores keeps the stored bits.
TEST(MergeEqual, RandomFunctionsStoreTheSame) {
  std::size_t merges = 0;
  std::size_t carried = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const std::string text = RandomText(seed).text();
    const ir::Program program = read(text);
    const auto one = merged(program);
    if (!one) continue;
    merges += one->ops.size();
    const auto before = ir::loops(program, program.module());
    const auto after = ir::loops(one->program, one->program.module());
    ASSERT_EQ(before.size(), after.size()) << text;
    for (std::size_t i = 0; i < before.size(); ++i) {
      carried += before[i].carried.size() - after[i].carried.size();
    }
    for (const int n : {0, 1, 3}) {
      EXPECT_EQ(written(one->program, turns(n)), written(program, turns(n))) << seed << text;
    }
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(merges, 500U);
  EXPECT_GT(carried, 100U);
}

// Protects: long texts take about linear time.
TEST(MergeEqual, LongTextsAreNoTrouble) {
  std::string chain;
  std::string last = "%nB";
  for (int i = 0; i < 20'000; ++i) {
    const std::string made = "%h" + std::to_string(i);
    chain += "    " + made + " = arith.addf " + last + ", %xB : tensor<16xf32, #B>\n";
    last = made;
  }
  const std::string text =
      edited(kTwice, {{"    %dA", chain + "    %dA"},
                      {"%dB = arith.subf %mB, %nB", "%dB = arith.subf %mB, " + last}});
  EXPECT_TRUE(merged(read(text)).has_value());
}

}  // namespace
}  // namespace twill::execute
