#include <gmock/gmock.h>

#include "extract/ttgir.h"

namespace twill::extract::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A branch on a counter's equality is not part of the steady state: it is one op without cost.
TEST(Branches, RareBranchesCostNothing) {
  const std::string body = loads() + product() + R"(
      %last = arith.cmpi eq, %i, %n : i32
      %v = scf.if %last -> (tensor<128x128xf32, #mma>) {
        %e = math.exp2 %d : tensor<128x128xf32, #mma>
        "test.keep"(%e) : (tensor<128x128xf32, #mma>) -> ()
        scf.yield %zero : tensor<128x128xf32, #mma>
      } else {
        scf.yield %d : tensor<128x128xf32, #mma>
      }
)";
  const Extraction loop = extracted(hopper_kernel(body, "%v"), "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  const problem::Op* epilogue = find_op(problem, "epilogue");
  ASSERT_NE(epilogue, nullptr);
  EXPECT_EQ(epilogue->alternatives[0].latency, 0);
  EXPECT_EQ(find_op(problem, "exp2"), nullptr);
  EXPECT_THAT(epilogue->source, Contains(HasSubstr("math.exp2")));
  EXPECT_NE(find_dependence(problem, "mma", "mma", 1), nullptr);  // the accumulator goes on
  ASSERT_EQ(loop.warnings.size(), 1U);
}

// Any other branch is priced as if always executed.
TEST(Branches, OtherBranchesArePricedAsTaken) {
  const std::string body = loads() + product() + R"(
      %some = arith.cmpi slt, %i, %n : i32
      %v = scf.if %some -> (tensor<128x128xf32, #mma>) {
        %e = math.exp2 %d : tensor<128x128xf32, #mma>
        scf.yield %e : tensor<128x128xf32, #mma>
      } else {
        scf.yield %d : tensor<128x128xf32, #mma>
      }
)";
  const Extraction loop = extracted(hopper_kernel(body, "%v"), "h200", kWhole);
  EXPECT_NE(find_op(loop.problem, "exp2"), nullptr);
  EXPECT_EQ(loop.warnings.size(), 1U);
}

// A branch runs as a whole: no op stands for work both inside and outside of it.
TEST(Branches, AreNotFusedWithWhatStandsOutside) {
  const std::string body = loads() + product() + R"(
      %e = arith.mulf %d, %d : tensor<128x128xf32, #mma>
      %some = arith.cmpi slt, %i, %n : i32
      %v = scf.if %some -> (tensor<128x128xf32, #mma>) {
        %f = arith.addf %e, %e : tensor<128x128xf32, #mma>
        scf.yield %f : tensor<128x128xf32, #mma>
      } else {
        %f = arith.subf %e, %d : tensor<128x128xf32, #mma>
        scf.yield %f : tensor<128x128xf32, #mma>
      }
      %w = arith.subf %v, %zero : tensor<128x128xf32, #mma>
)";
  const Extraction loop = extracted(hopper_kernel(body, "%w"), "h200", kWhole);
  EXPECT_THAT(names_of(loop.problem), ElementsAre("load_a", "load_b", "mma", "mul", "add", "sub"));
}

/// A branch that scales the accumulator if the largest of all sums is positive. `chosen` is its
/// body, with the yield.
std::string under_a_maximum(const std::string& chosen) {
  return hopper_kernel(loads() + R"(
      %m = "tt.reduce"(%acc) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %xy = arith.maxnumf %x, %y : f32
        tt.reduce.return %xy : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %all = "tt.reduce"(%m) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %xy = arith.maxnumf %x, %y : f32
        tt.reduce.return %xy : f32
      }) : (tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>) -> f32
      %some = arith.cmpf ogt, %all, %f0 : f32
      %v = scf.if %some -> (tensor<128x128xf32, #mma>) {
)" + chosen + R"(
      } else {
        scf.yield %acc : tensor<128x128xf32, #mma>
      }
)" + product("%v"),
                       "%d", "    %f0 = arith.constant 0.000000e+00 : f32\n");
}

// The loop computes a branch's condition, and ops in the branch wait for the condition.
TEST(Branches, ConditionsMadeOfTilesAreOps) {
  const std::string text = under_a_maximum(R"(
        %e = arith.mulf %acc, %acc : tensor<128x128xf32, #mma>
        scf.yield %e : tensor<128x128xf32, #mma>)");
  const Extraction loop = extracted(text, "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_THAT(names_of(problem),
              ElementsAre("load_a", "load_b", "row_max0", "row_max1", "rescale", "mma"));
  EXPECT_NE(find_dependence(problem, "row_max0", "row_max1"), nullptr);
  EXPECT_NE(find_dependence(problem, "row_max1", "rescale"), nullptr);
  const problem::Dependence* result = find_dependence(problem, "row_max1", "mma");
  ASSERT_NE(result, nullptr);  // chooses the accumulator
  EXPECT_FALSE(result->in_place);
  EXPECT_TRUE(find_dependence(problem, "rescale", "mma")->in_place);
  EXPECT_GT(find_op(problem, "row_max1")->alternatives[0].latency, 0);
}

// In a branch without ops, readers of its result wait for the condition.
TEST(Branches, ConditionsOfBranchesWithoutOpsAreRead) {
  const std::string text = under_a_maximum("        scf.yield %zero : tensor<128x128xf32, #mma>");
  const Extraction loop = extracted(text, "h200", kWhole);
  EXPECT_NE(find_dependence(loop.problem, "row_max1", "mma"), nullptr);
}

// A condition on all rows forbids cutting the rows.
TEST(Branches, ConditionsOnAllRowsKeepThemTogether) {
  const std::string text = under_a_maximum(R"(
        %e = arith.mulf %acc, %acc : tensor<128x128xf32, #mma>
        scf.yield %e : tensor<128x128xf32, #mma>)");
  Options cut;
  cut.subtile = 64;
  const auto refused = extract_from(text, "h200", cut);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("row_max1"));
  EXPECT_THAT(refused.error().message, HasSubstr("combines them with each other"));
}

// An equality of a value computed from tiles is no counter's: its branch is not rare.
TEST(Branches, EqualitiesOfTilesAreNoCounters) {
  std::string text = under_a_maximum(R"(
        %e = arith.mulf %acc, %acc : tensor<128x128xf32, #mma>
        scf.yield %e : tensor<128x128xf32, #mma>)");
  const std::string compare = "arith.cmpf ogt, %all, %f0 : f32";
  text.replace(text.find(compare), compare.size(), "arith.cmpi eq, %bits, %c0 : i32");
  const std::string some = "      %some =";
  text.insert(text.find(some), "      %bits = arith.fptosi %all : f32 to i32\n");
  const Extraction loop = extracted(text, "h200", kWhole);
  EXPECT_EQ(find_op(loop.problem, "epilogue"), nullptr);
  EXPECT_NE(find_dependence(loop.problem, "row_max1", "rescale"), nullptr);
}

/// A kernel with its product in a branch that `condition` decides; %flag or %live is in the
/// condition.
std::string under_a_flag(const std::string& condition) {
  return hopper_kernel(R"(
      %at = tt.addptr %flags, %i : !tt.ptr<i32>, i32
      %flag = tt.load %at : !tt.ptr<i32>
)" + condition + R"(
      %v = scf.if %live -> (tensor<128x128xf32, #mma>) {
)" + loads() + product() + R"(
        scf.yield %d : tensor<128x128xf32, #mma>
      } else {
        scf.yield %acc : tensor<128x128xf32, #mma>
      }
)",
                       "%v", R"(
    %c2 = arith.constant 2 : i32
    %flags = tt.int_to_ptr %n64 : i64 -> !tt.ptr<i32>
)");
}

// Protects: blocks that a table lets the kernel skip, for either sense of the flag. A loaded flag
// is no counter, and the remainder of an index by 2 is 0 in every other iteration. Two counters may
// differ by one number for ever.
TEST(Branches, FlagsAreNoCounters) {
  for (const std::string condition :
       {"%live = arith.cmpi eq, %flag, %c2 : i32", "%live = arith.cmpi ne, %flag, %c0 : i32",
        "%sum = arith.addi %flag, %i : i32\n%live = arith.cmpi eq, %sum, %n : i32",
        "%rest = arith.remsi %i, %c2 : i32\n%live = arith.cmpi eq, %rest, %c0 : i32",
        "%bit = arith.andi %i, %c2 : i32\n%live = arith.cmpi eq, %bit, %c0 : i32",
        "%next = arith.addi %i, %c2 : i32\n%one = arith.subi %next, %i : i32\n"
        "%live = arith.cmpi eq, %one, %n : i32",
        "%left = arith.subi %n, %i : i32\n%all = arith.addi %i, %left : i32\n"
        "%live = arith.cmpi eq, %all, %n : i32"}) {
    std::string text = under_a_flag(condition);
    const std::string n = "%n: i32)";
    text.replace(text.find(n), n.size(), "%n: i32, %n64: i64)");
    const Extraction loop = extracted(text, "h200", kWhole);
    EXPECT_NE(find_op(loop.problem, "mma"), nullptr) << condition;
    EXPECT_EQ(find_op(loop.problem, "epilogue"), nullptr) << condition;
    ASSERT_EQ(loop.warnings.size(), 1U) << condition;
    EXPECT_THAT(loop.warnings[0].message, HasSubstr("taken to hold in every iteration"));
  }
}

// Protects: the side with the product is followed, even if the other side computes more tile
// elements. (The loop was said to have no tensor-core work.)
TEST(Branches, TheSideWithTheProductIsFollowed) {
  std::string text = under_a_flag("%live = arith.cmpi ne, %flag, %c0 : i32");
  const std::string n = "%n: i32)", idle = "        scf.yield %acc :";
  text.replace(text.find(n), n.size(), "%n: i32, %n64: i64)");
  text.replace(text.find(idle), idle.size(),
               "        %twice = arith.addf %acc, %acc : tensor<128x128xf32, #mma>\n"
               "        %thrice = arith.addf %twice, %acc : tensor<128x128xf32, #mma>\n"
               "        %often = arith.mulf %thrice, %thrice : tensor<128x128xf32, #mma>\n"
               "        scf.yield %often :");
  const Extraction loop = extracted(text, "h200", kWhole);
  EXPECT_NE(find_op(loop.problem, "mma"), nullptr);
  ASSERT_FALSE(loop.warnings.empty());
  EXPECT_THAT(loop.warnings[0].message, HasSubstr("is priced"));
}

// Protects: a descriptor made in the loop is part of each access that uses it. Writing it holds the
// warp, and the copy begins once the descriptor can be read.
TEST(Priced, DescriptorsMadeInTheLoop) {
  const std::string text = hopper_kernel(R"(
      %own = tt.make_tensor_descriptor %ptr, [%n, %n], [%c64_i64, %c1_i64] : <f16>, <128x64xf16, #shared>
      %ta = tt.descriptor_load %own[%c0, %i] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %a = ttg.local_alloc %ta : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %tb = tt.descriptor_load %b_desc[%i, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %b = ttg.local_alloc %tb : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
)" + product(),
                                         "%d",
                                         "    %c1_i64 = arith.constant 1 : i64\n"
                                         "    %c64_i64 = arith.constant 64 : i64\n");
  const Extraction loop = extracted(text, "h200", kWhole);
  const problem::Op* own = find_op(loop.problem, "load");
  const problem::Op* given = find_op(loop.problem, "load_b");
  ASSERT_NE(own, nullptr);
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(own->alternatives[0].issue, given->alternatives[0].issue + 270);
  EXPECT_EQ(own->alternatives[0].latency - own->alternatives[0].issue,
            given->alternatives[0].latency - given->alternatives[0].occupancy + 270);
  EXPECT_TRUE(loop.warnings.empty());
}

/// A kernel that applies the assembly to the product, `elements` elements at a time.
std::string with_assembly(const std::string& text, int elements) {
  return hopper_kernel(
      loads() + product() + R"(
      %e = tt.elementwise_inline_asm ")" +
          text + R"(" {constraints = "=r,r", packed_element = )" + std::to_string(elements) +
          R"( : i32, pure = true} %d : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #mma>
)",
      "%e");
}

// Protects: inline assembly costs its instructions, each at the rate of its pipe. Assembly with an
// unknown instruction has no price, which --strict refuses.
TEST(Unpriced, InlineAssemblyIsPricedByItsInstructions) {
  Options strict = kWhole;
  strict.strict = true;
  const auto demand = [&](const std::string& text, int elements, const std::string& pipe) {
    const Extraction loop = extracted(with_assembly(text, elements), "h200", strict);
    const problem::Op* op = find_op(loop.problem, "asm");
    Cycles sum = 0;
    if (op == nullptr) return Cycles{-1};
    for (const auto& it : op->alternatives[0].pipes) {
      if (loop.problem[it.pipe].name == pipe) sum += it.demand;
    }
    return sum;
  };
  const Cycles once = demand("tanh.approx.f32 $0, $1;", 1, "MUFU");
  EXPECT_GT(once, 0);
  EXPECT_EQ(demand("ex2.approx.ftz.f32 $0, $1; ", 1, "MUFU"), once);
  EXPECT_EQ(
      demand("{ .reg .f32 t; mul.f32 t, $1, $1; // twice\\0A tanh.approx.f32 $0, t; }", 1, "MUFU"),
      once);
  EXPECT_EQ(demand("mul.f32 $0, $1, $1;", 1, "MUFU"), 0);
  EXPECT_EQ(2 * demand("tanh.approx.f16x2 $0, $1;", 2, "MUFU"), 2 * once);  // rounded up
  EXPECT_GT(demand("add.s32 $0, $1, 1; xor.b32 $0, $0, $1;", 1, "ALU"), 0);
  for (const std::string unknown : {"membar.gl;", "@p mul.f32 $0, $1, $1;", "div.s32 $0, $1, 3;"}) {
    EXPECT_FALSE(extract_from(with_assembly(unknown, 1), "h200", strict).has_value()) << unknown;
  }
}

// Protects: counters of a loop are recognized through arithmetic.
TEST(Branches, CountersAreKnownThroughArithmetic) {
  for (const std::string last :
       {"%last = arith.cmpi eq, %i, %n : i32", "%last = arith.cmpi eq, %n, %i : i32",
        "%k = arith.muli %i, %c64 : i32\n%last = arith.cmpi eq, %k, %n : i32",
        "%k = arith.subi %n, %i : i32\n%last = arith.cmpi eq, %k, %c0 : i32",
        "%k = arith.divsi %i, %c64 : i32\n%last = arith.cmpi eq, %k, %n : i32",
        "%k = arith.remsi %i, %n : i32\n%last = arith.cmpi eq, %k, %c0 : i32",
        "%k = arith.extsi %i : i32 to i64\n%t = arith.trunci %k : i64 to i32\n"
        "%last = arith.cmpi eq, %t, %n : i32"}) {
    const Extraction loop = extracted(hopper_kernel(loads() + product() + last + R"(
      %v = scf.if %last -> (tensor<128x128xf32, #mma>) {
        %e = math.exp2 %d : tensor<128x128xf32, #mma>
        "test.keep"(%e) : (tensor<128x128xf32, #mma>) -> ()
        scf.yield %zero : tensor<128x128xf32, #mma>
      } else {
        scf.yield %d : tensor<128x128xf32, #mma>
      }
)",
                                                    "%v"),
                                      "h200", kWhole);
    EXPECT_NE(find_op(loop.problem, "epilogue"), nullptr) << last;
  }
}

// Protects: a while loop that loads its condition runs no load ahead of that condition. The other
// load's address may be loaded or known.
TEST(Priced, LoadsThatDecideWhetherAWhileLoopGoesOn) {
  std::string text = text_of(project() / "tests/numerics/kinds/while_list.ttgir");
  for (const std::string address : {"%k_19", "%c1_i32"}) {
    const std::string next = "tt.addptr %next_ptr, ";
    const std::size_t at = text.find(next) + next.size();
    text.replace(at, text.find(" :", at) - at, address);
    const Extraction loop = extracted(text, "h200", kWhole);
    const problem::Dependence* turn = find_dependence(loop.problem, "load_a", "load_a", 1);
    ASSERT_NE(turn, nullptr) << address;
    EXPECT_GT(turn->delay.value_or(0), 200) << address;
  }
}

}  // namespace
}  // namespace twill::extract::testing
