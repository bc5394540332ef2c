#include "twill/ir/row_sums.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

// Protects: a row sum is found in each of its spellings. A sum is no row sum if an op of the loop
// needs its complete value.
namespace twill::ir {
namespace {

/// "tt.reduce + arith.addf, 3 ops" for a loop that carries %sum and yields %next; %x is a tile, %f
/// a vector. Empty without a row sum.
std::string found(const std::string& body, const std::string& combine = "arith.addf",
                  const std::string& axis = "1") {
  const std::string text = R"(
tt.func @f(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %f = arith.constant dense<0.5> : tensor<64xf32>
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %to = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %row = "tt.reduce"(%x) <{axis = )" +
                           axis + R"( : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %both = )" + combine +
                           R"( %a, %b : f32
      tt.reduce.return %both : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
)" + body + R"(
    scf.yield %next : tensor<64xf32>
  }
  tt.store %to, %r : tensor<64x!tt.ptr<f32>>
  tt.return
}
)";
  const auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) return to_string(program.error());
  for (std::size_t i = 0; i < program->op_count(); ++i) {
    const auto loop = as_loop(*program, OpId(i));
    if (!loop) continue;
    const auto sums = row_sums(*program, *loop);
    if (sums.empty()) return "";
    return program->op(sums[0].reduction).name + " + " + program->op(sums[0].addition).name + ", " +
           std::to_string(sums[0].ops.size()) + " ops";
  }
  return "no loop";
}

TEST(RowSums, AreFoundWhicheverAlternativeTheyAreWritten) {
  EXPECT_EQ(found("%next = arith.addf %sum, %row : tensor<64xf32>"),
            "tt.reduce + arith.addf, 2 ops");
  EXPECT_EQ(found("%s = arith.mulf %f, %sum : tensor<64xf32>\n"
                  "%next = arith.addf %row, %s : tensor<64xf32>"),
            "tt.reduce + arith.addf, 3 ops");
  EXPECT_EQ(found("%next = math.fma %sum, %f, %row : tensor<64xf32>"),
            "tt.reduce + math.fma, 2 ops");
}

TEST(RowSums, ThatTheLoopNeedsWholeAreNone) {
  EXPECT_EQ(found("%next = arith.maxnumf %sum, %row : tensor<64xf32>"), "");
  const std::string adds = "%next = arith.addf %sum, %row : tensor<64xf32>\n";
  EXPECT_EQ(found(adds, "arith.maxnumf"), "");
  EXPECT_EQ(found(adds, "arith.addf", "0"), "");
  EXPECT_EQ(found(adds + "tt.store %to, %row : tensor<64x!tt.ptr<f32>>"), "");
  EXPECT_EQ(found(adds + "tt.store %to, %sum : tensor<64x!tt.ptr<f32>>"), "");
  EXPECT_EQ(found(adds + "tt.store %to, %next : tensor<64x!tt.ptr<f32>>"), "");
  EXPECT_EQ(found("%s = arith.mulf %sum, %sum : tensor<64xf32>\n"
                  "%next = arith.addf %row, %s : tensor<64xf32>"),
            "");
  EXPECT_EQ(found("%s = arith.mulf %row, %sum : tensor<64xf32>\n"
                  "%next = arith.addf %row, %s : tensor<64xf32>"),
            "");
}

}  // namespace
}  // namespace twill::ir
