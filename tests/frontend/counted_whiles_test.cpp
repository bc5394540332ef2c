#include "twill/frontend/ttgir/counted_whiles.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/loop.h"

/// Protects: a while loop that counts is read as a counting loop with the same results. The bound
/// may be computed or loaded at the loop's head. All other while loops stay.
namespace twill::frontend::ttgir {
namespace {

/// A while loop of a counter %i and a sum %s, with the given condition and step.
std::string looping(const std::string& head, const std::string& step,
                    const std::string& behind = "") {
  return R"(module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32, %by: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c_1 = arith.constant -1 : i32
    %r:2 = scf.while (%i = %c0, %s = %n) : (i32, i32) -> (i32, i32) {
)" + head +
         R"(
      scf.condition(%go) %s, %i : i32, i32
    } do {
    ^bb0(%t: i32, %j: i32):
      %next = )" +
         step + R"( : i32
      %sum = arith.addi %t, %j : i32
      scf.yield %next, %sum : i32, i32
    }
    tt.store %y, %r#0 : !tt.ptr<i32>
)" + behind +
         R"(
    tt.return
  }
}
)";
}

std::optional<ir::Program> counted(const std::string& text, Whiles which = Whiles::all) {
  const auto read = read_ttgir(text, "k.ttgir");
  if (!read) throw std::runtime_error(to_string(read.error()));
  return counted_whiles(*read, which);
}

constexpr const char* kAdds = "arith.addi %j, %c1";

TEST(CountedWhiles, BecomeCountingLoops) {
  for (const char* head :
       {"%go = arith.cmpi slt, %i, %n : i32", "%go = arith.cmpi sgt, %n, %i : i32",
        "%go = arith.cmpi sle, %i, %n : i32",
        "%m = arith.muli %n, %n : i32\n %go = arith.cmpi slt, %i, %m : i32",
        "%m = tt.load %x : !tt.ptr<i32>\n %go = arith.cmpi slt, %i, %m : i32"}) {
    const auto made = counted(looping(head, kAdds));
    ASSERT_TRUE(made) << head;
    const auto loops = ir::loops(*made, made->module());
    ASSERT_EQ(loops.size(), 1U);
    ASSERT_TRUE(loops[0].induction) << head;
    EXPECT_EQ(ir::constant_integer(*made, *loops[0].lower), 0);
    EXPECT_EQ(ir::constant_integer(*made, *loops[0].step), 1);
    // The sum adds the counter, and is stored after the loop.
    const ir::Carried& sum = loops[0].carried[1];
    EXPECT_EQ(ir::defining_op(*made, sum.yielded)->operands,
              (std::vector<ir::ValueId>{sum.argument, *loops[0].induction}));
    ASSERT_EQ(made->value(*sum.result).uses.size(), 1U);
    EXPECT_EQ(made->op(made->value(*sum.result).uses[0].op).kind, ir::OpKind::store);
  }
}

// A step that is an argument may be negative, which a plan cannot exclude.
TEST(CountedWhiles, InnermostOnesTakeKnownSteps) {
  const std::string less = "%go = arith.cmpi slt, %i, %n : i32";
  EXPECT_TRUE(counted(looping(less, kAdds), Whiles::innermost));
  EXPECT_FALSE(counted(looping(less, "arith.addi %by, %j"), Whiles::innermost));
}

TEST(CountedWhiles, OthersStay) {
  const std::string less = "%go = arith.cmpi slt, %i, %n : i32";
  EXPECT_TRUE(counted(looping(less, "arith.addi %by, %j")));
  EXPECT_FALSE(counted(looping(less, "arith.addi %j, %c_1")));
  EXPECT_FALSE(counted(looping(less, "arith.addi %j, %t")));
  EXPECT_FALSE(counted(looping(less, "arith.muli %j, %by")));
  EXPECT_FALSE(counted(looping("%go = arith.cmpi ne, %i, %n : i32", kAdds)));
  EXPECT_FALSE(counted(looping("%go = arith.cmpi slt, %i, %s : i32", kAdds)));
  EXPECT_FALSE(
      counted(looping("%m = tt.load %y : !tt.ptr<i32>\n"
                      " %go = arith.cmpi slt, %i, %m : i32",
                      kAdds)));
  EXPECT_FALSE(
      counted(looping("%m = tt.load %x : !tt.ptr<i32>\n"
                      " %go = arith.cmpi slt, %i, %m : i32",
                      kAdds, "    tt.store %x, %n : !tt.ptr<i32>")));
}

}  // namespace
}  // namespace twill::frontend::ttgir
