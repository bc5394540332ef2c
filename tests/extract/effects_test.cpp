#include "twill/extract/effects.h"

#include <gmock/gmock.h>

#include "extract/ttgir.h"

/// Protects: each effect of a kernel that no op of the Problem stands for is found once. In the
/// loop, it comes with its needs; outside of the loop, with the reason if its order cannot be kept.
namespace twill::extract::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A kernel with its loop and origins, for questions about its effects.
struct Asked {
  explicit Asked(const std::string& text) : program(program_of(text)) {
    loop = choose_loop(program, "")->loop;
    extraction = extract(program, loop, machine_named("h200"), kWhole);
    if (!extraction) ADD_FAILURE() << to_string(extraction.error());
  }

  std::vector<WholeOp> wholes() const { return whole_ops(program, loop, extraction->origins); }
  std::vector<std::string> names(const Makers& ops) const {
    std::vector<std::string> found;
    for (const std::size_t op : ops) found.push_back(extraction->problem.ops()[op].name);
    return found;
  }
  /// Effects outside of the loop, if the plan has steps for all ops of that name.
  std::vector<OuterEffect> around(const std::string& planned = "tt.store") const {
    return effects_around(program, loop,
                          [&](ir::OpId op) { return program.op(op).name == planned; });
  }

  ir::Program program;
  ir::OpId loop;
  Result<Extraction> extraction = fail({}, "");
};

const std::string kSum = R"(
      %e = math.exp2 %d : tensor<128x128xf32, #mma>
)";

// A print needs the op that computes the printed value, through values that no op stands for.
TEST(Effects, InTheLoopNeedWhatTheyAreComputedFrom) {
  const Asked kernel(hopper_kernel(loads() + product() + kSum + R"(
      tt.print " e: " {hex = false, isSigned = array<i32: 1>} : %e : tensor<128x128xf32, #mma>
)",
                                   "%e"));
  const std::vector<WholeOp> wholes = kernel.wholes();
  ASSERT_EQ(wholes.size(), 1U);
  EXPECT_TRUE(wholes[0].acts);
  EXPECT_THAT(wholes[0].within, IsEmpty());
  EXPECT_EQ(wholes[0].objection, "");
  EXPECT_EQ(kernel.names(wholes[0].needs).size(), 1U);
  EXPECT_THAT(kernel.names(wholes[0].needs)[0], HasSubstr("exp"));
}

// A branch holds its ops, once.
TEST(Effects, BranchesHoldTheirOps) {
  const Asked kernel(hopper_kernel(loads() + product() + R"(
      %some = arith.cmpi slt, %i, %n : i32
      %v = scf.if %some -> (tensor<128x128xf32, #mma>) {
        %e = math.exp2 %d : tensor<128x128xf32, #mma>
        scf.yield %e : tensor<128x128xf32, #mma>
      } else {
        scf.yield %d : tensor<128x128xf32, #mma>
      }
)",
                                   "%v"));
  const std::vector<WholeOp> wholes = kernel.wholes();
  ASSERT_EQ(wholes.size(), 1U);
  EXPECT_FALSE(wholes[0].acts);
  EXPECT_EQ(kernel.names(wholes[0].within).size(), 1U);
}

const std::string kCount = R"(
    %true = arith.constant true
    %one = arith.constant 1.000000e+00 : f16
    %old = tt.atomic_rmw fadd, relaxed, gpu, %ptr, %one, %true : (!tt.ptr<f16>, f16, i1) -> f16
)";

const std::string kAgain =
    "    %again = tt.atomic_rmw fadd, relaxed, gpu, %ptr, %one, %true : (!tt.ptr<f16>, f16, i1) -> "
    "f16\n";

// Scalar ops before the loop run before roles begin, unless an earlier load may see their writes.
// Scalar ops after the loop run last, unless a store of groups follows.
TEST(Effects, AroundTheLoopKeepTheirOrder) {
  const auto only = [](const Asked& kernel) {
    const std::vector<OuterEffect> found = kernel.around();
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? "none" : found[0].objection;
  };
  const std::string body = loads() + product();
  EXPECT_EQ(only(Asked(hopper_kernel(body, "%d", kCount))), "");
  EXPECT_THAT(only(Asked(hopper_kernel(body, "%d",
                                       "    %before = tt.load %ptr : !tt.ptr<f16>\n" + kCount))),
              HasSubstr("behind a load (tt.load"));
  EXPECT_EQ(only(Asked(hopper_kernel(body, "%d", "", kCount))), "");
  const std::string store = "    tt.store %ptr, %one : !tt.ptr<f16>\n";
  EXPECT_THAT(only(Asked(hopper_kernel(body, "%d", "", kCount + store))),
              HasSubstr("an effect between those of groups (tt.store"));
}

// A loop of scalars before or after the main loop runs as a whole, once, with its own loads. With a
// barrier, it is no step of a plan.
TEST(Effects, LoopsOfScalarsAroundAreDoneAsAWhole) {
  const auto looped = [](const std::string& inside) {
    return "    %front0 = arith.constant 0 : i32\n    %front1 = arith.constant 1 : i32\n"
           "    scf.for %j = %front0 to %n step %front1 : i32 {\n" +
           inside + "    }\n";
  };
  const std::string body = loads() + product();
  const std::string load = "    %before = tt.load %ptr : !tt.ptr<f16>\n";
  const Asked kernel(hopper_kernel(body, "%d", looped(load + kCount + kAgain)));
  const std::vector<OuterEffect> found = kernel.around();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(kernel.program.op(found[0].op).name, "scf.for");
  EXPECT_EQ(found[0].objection, "");
  const Asked ordered(hopper_kernel(body, "%d", looped("    gpu.barrier\n" + kCount)));
  ASSERT_EQ(ordered.around().size(), 1U);
  EXPECT_THAT(ordered.around()[0].objection, HasSubstr("no step of the plan has"));
  const std::string released =
      "    %again = tt.atomic_rmw fadd, acq_rel, gpu, %ptr, %one, %true : (!tt.ptr<f16>, f16, i1) "
      "-> "
      "f16\n";
  const std::string other =
      "    %early = tt.descriptor_load %a_desc[%c0, %c0] : !tt.tensordesc<tensor<128x64xf16, "
      "#shared>> -> tensor<128x64xf16, #blocked>\n";
  const Asked late(hopper_kernel(body, "%d", other + looped(kCount + released)));
  ASSERT_EQ(late.around().size(), 1U);
  EXPECT_THAT(late.around()[0].objection, HasSubstr("behind a load"));
  const Asked remarked(hopper_kernel(
      body, "%d", "",
      looped(kCount +
             "    tt.print \" x: \" {hex = false, isSigned = array<i32: 1>} : %n : i32\n")));
  ASSERT_EQ(remarked.around().size(), 1U);
  EXPECT_EQ(remarked.around()[0].objection, "");
  // A role that waits for a flag by volatile loads has an effect, though it writes nothing.
  const Asked waits(
      hopper_kernel(body, "%d",
                    "    scf.while : () -> () {\n"
                    "      %flag = tt.load %ptr {isVolatile = true} : !tt.ptr<f16>\n"
                    "      %none = arith.constant 0.000000e+00 : f16\n"
                    "      %is = arith.cmpf oeq, %flag, %none : f16\n"
                    "      scf.condition(%is)\n    } do {\n      scf.yield\n    }\n"));
  ASSERT_EQ(waits.around().size(), 1U);
  EXPECT_EQ(waits.around()[0].objection, "");
  const Asked behind(hopper_kernel(body, "%d", "", looped(kCount)));
  ASSERT_EQ(behind.around().size(), 1U);
  EXPECT_EQ(behind.around()[0].objection, "");
  EXPECT_EQ(behind.program.op(behind.around()[0].op).name, "scf.for");
}

}  // namespace
}  // namespace twill::extract::testing
