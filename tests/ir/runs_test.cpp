#include "twill/ir/runs.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

// Protects: facts about neighbouring elements hold for every value of the arguments, and suffice
// for the address arithmetic that Triton prints.
namespace twill::ir {
namespace {

/// "consecutive 16", "constant 1" or "unknown" for the value %x of a function around `body`.
std::string run(std::string_view body, std::size_t dimension, std::int64_t length) {
  const std::string text = R"(
tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16>, %n: i32 {tt.divisibility = 16 : i32},
           %m: i32, %c: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
)" + std::string(body) + "\n  tt.return\n}\n";
  const auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) return to_string(program.error());
  for (std::size_t v = 0; v < program->value_count(); ++v) {
    if (program->value(ValueId(v)).name != "x") continue;
    const Run found = Runs(*program, length).of(ValueId(v), dimension);
    if (found.kind == Run::Kind::unknown) return "unknown";
    return (found.kind == Run::Kind::constant ? "constant " : "consecutive ") +
           std::to_string(found.divisor);
  }
  return "no %x";
}

std::string of(std::string_view operation, std::int64_t length = 8) {
  return run("  %x = " + std::string(operation), 0, length);
}

TEST(Runs, OfRangesAndSums) {
  EXPECT_EQ(of("tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>"),
            "consecutive 8");
  EXPECT_EQ(of("tt.make_range {end = 68 : i32, start = 4 : i32} : tensor<64xi32>"),
            "consecutive 4");
  EXPECT_EQ(of("arith.addi %r, %ns : tensor<64xi32>"), "consecutive 8");
  EXPECT_EQ(of("arith.addi %ms, %r : tensor<64xi32>"), "consecutive 1");
  EXPECT_EQ(of("arith.subi %r, %ns : tensor<64xi32>"), "consecutive 8");
  EXPECT_EQ(of("arith.subi %ns, %r : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.addi %r, %r : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.subi %r, %r : tensor<64xi32>"), "constant 8");
}

TEST(Runs, OfProductsQuotientsAndRemainders) {
  EXPECT_EQ(of("arith.muli %ns, %ns : tensor<64xi32>"), "constant 256");
  EXPECT_EQ(of("arith.muli %r, %ns : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.remsi %r, %ns : tensor<64xi32>"), "consecutive 8");
  EXPECT_EQ(of("arith.remsi %r, %ms : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.divsi %r, %ns : tensor<64xi32>"), "constant 1");
  EXPECT_EQ(of("arith.divsi %r, %ms : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.remsi %r, %ns : tensor<64xi32>", 32), "unknown");  // longer than what divides
}

TEST(Runs, OfMasks) {
  EXPECT_EQ(of("arith.cmpi slt, %r, %ns : tensor<64xi32>"), "constant 1");
  EXPECT_EQ(of("arith.cmpi sge, %r, %ns : tensor<64xi32>"), "constant 1");
  EXPECT_EQ(of("arith.cmpi sgt, %ns, %r : tensor<64xi32>"), "constant 1");
  EXPECT_EQ(of("arith.cmpi sle, %r, %ns : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.cmpi sgt, %r, %ns : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.cmpi slt, %r, %ms : tensor<64xi32>"), "unknown");
  EXPECT_EQ(of("arith.cmpi eq, %r, %ns : tensor<64xi32>"), "unknown");
}

TEST(Runs, OfPointersCountBytes) {
  EXPECT_EQ(of("tt.addptr %ps, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>"), "consecutive 16");
  EXPECT_EQ(of("tt.addptr %ps, %ms : tensor<64x!tt.ptr<f16>>, tensor<64xi32>"), "constant 2");
  EXPECT_EQ(run(R"(  %s = arith.addi %r, %ms : tensor<64xi32>
  %x = tt.addptr %ps, %s : tensor<64x!tt.ptr<f16>>, tensor<64xi32>)",
                0, 8),
            "consecutive 2");
}

// A run along columns is within one row: it sees a single element of a value that differs from row
// to row.
TEST(Runs, OfMatricesAlongEitherDimension) {
  const char* body =
      R"(  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %k = tt.splat %n : i32 -> tensor<64x1xi32>
  %o = arith.muli %e, %k : tensor<64x1xi32>
  %rows = tt.broadcast %o : tensor<64x1xi32> -> tensor<64x64xi32>
  %f = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %f : tensor<1x64xi32> -> tensor<64x64xi32>
  %x = arith.addi %rows, %columns : tensor<64x64xi32>)";
  EXPECT_EQ(run(body, 1, 8), "consecutive 8");
  EXPECT_EQ(run(body, 0, 8), "unknown");
}

TEST(Runs, OfWhatALoopCarries) {
  const auto carried = [](const std::string& by) {
    return run(
        "  %a = tt.addptr %ps, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>\n"
        "  %y = scf.for %i = %zero to %c step %one iter_args(%x = %a) -> "
        "(tensor<64x!tt.ptr<f16>>) : i32 {\n"
        "    %b = tt.addptr %x, " +
            by +
            " : tensor<64x!tt.ptr<f16>>, tensor<64xi32>\n"
            "    scf.yield %b : tensor<64x!tt.ptr<f16>>\n  }\n",
        0, 8);
  };
  EXPECT_EQ(carried("%ns"), "consecutive 16");
  EXPECT_EQ(carried("%ms"), "consecutive 2");
  EXPECT_EQ(carried("%r"), "unknown");
}

TEST(Runs, BelieveHints) {
  EXPECT_EQ(of("arith.remsi %r, %ms {tt.contiguity = dense<64> : tensor<1xi32>, "
               "tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi32>"),
            "consecutive 8");
  EXPECT_EQ(of("arith.remsi %r, %ms {tt.contiguity = dense<4> : tensor<1xi32>} : tensor<64xi32>"),
            "unknown");
  EXPECT_EQ(of("arith.remsi %r, %ms {tt.constancy = dense<8> : tensor<1xi32>} : tensor<64xi32>"),
            "constant 1");
}

// Exactly the number of elements that alignment and mask allow.
TEST(Runs, InOnePieceOfAnAccess) {
  const auto pieces = [](const std::string& offset, const std::string& mask) {
    const std::string text = R"(
tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 4 : i32}, %m: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %o = arith.addi %r, )" + offset +
                             R"( : tensor<64xi32>
  %a = tt.addptr %ps, %o : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %k = arith.cmpi slt, %r, )" +
                             mask + R"( : tensor<64xi32>
  %x = tt.load %a, %k : tensor<64x!tt.ptr<f16>>
  tt.return
}
)";
    const auto program = frontend::read_ttgir(text, "test.ttgir");
    if (!program) return to_string(program.error());
    std::string found;
    for (std::size_t op = 0; op < program->op_count(); ++op) {
      if (program->op(OpId(op)).kind != OpKind::load) continue;
      const MemoryAccess access = *memory_access(program->op(OpId(op)));
      for (const int elements : {2, 4, 8, 16}) {
        if (in_one_piece(*program, access, 0, elements)) found += std::to_string(elements) + " ";
      }
    }
    return found;
  };
  EXPECT_EQ(pieces("%r", "%r"), "");        // every other element
  EXPECT_EQ(pieces("%ns", "%ns"), "2 4 ");  // 8 bytes, and a mask that changes after them
  EXPECT_EQ(pieces("%ns", "%ms"), "");      // a mask that may change anywhere
  EXPECT_EQ(pieces("%ms", "%ns"), "");      // aligned to nothing
}

// Protects: a launch refuses exactly the integers that would break vectorised copies.
TEST(Runs, RelyOnAsLittleAsPiecesNeed) {
  const auto relied_on = [](int elements) {
    const std::string text = R"(
tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32},
           %m: i32 {tt.divisibility = 16 : i32}, %u: i32 {tt.divisibility = 16 : i32}, %v: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %vn = arith.muli %v, %n : i32
  %ns = tt.splat %vn : i32 -> tensor<64xi32>
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %o = arith.addi %r, %ns : tensor<64xi32>
  %a = tt.addptr %ps, %o : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %k = arith.cmpi slt, %r, %ms : tensor<64xi32>
  %x = tt.load %a, %k : tensor<64x!tt.ptr<f16>>
  tt.return
}
)";
    const auto program = frontend::read_ttgir(text, "test.ttgir");
    if (!program) return to_string(program.error());
    std::vector<Piece> pieces;
    std::optional<OpId> function;
    for (std::size_t op = 0; op < program->op_count(); ++op) {
      const Op& it = program->op(OpId(op));
      if (it.kind == OpKind::function) function = OpId(op);
      if (it.kind == OpKind::load) pieces.push_back({*memory_access(it), 0, elements});
    }
    std::string found;
    for (const auto& [argument, divisor] : divisors_relied_on(*program, *function, pieces)) {
      found += std::to_string(argument) + ": " + std::to_string(divisor) + " ";
    }
    return found;
  };
  EXPECT_EQ(relied_on(8), "1: 8 2: 8 ");  // 16 bytes; %u and the pointer are not for integers
  EXPECT_EQ(relied_on(2), "1: 2 2: 2 ");
}

}  // namespace
}  // namespace twill::ir
