#include "twill/dialect/spell.h"

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

/// Protects: an operation is printed in the custom form in which it was read.
namespace twill::dialect {
namespace {

constexpr const char* kFunction =
    "module {\n  tt.func public @f(%i: i32, %c: i1, %x: tensor<4xf32>, %m: tensor<4xi1>, "
    "%p: tensor<4x!tt.ptr<f32>>, %d: !tt.tensordesc<tensor<4x4xf32>>, %y: tensor<4x4xf32>, "
    "%b: !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
    "order = [0]}>, #ttg.shared_memory, mutable>) {\n";

/// The first operation of a function with that body, printed again.
std::string written(const std::string& line, Spelling spelling) {
  const auto program =
      frontend::read_ttgir(kFunction + ("    " + line) + "\n    tt.return\n  }\n}\n", "f.ttgir");
  if (!program) return "! " + program.error().message;
  const auto body = ir::body(*program, ir::functions(*program).front());
  const ir::Op& op = program->op(program->block(*body).ops.front());
  Phrase phrase{op.name, {}, op.attributes, {}, {}, op.form};
  for (const ir::ValueId operand : op.operands) {
    phrase.operands.push_back({"%" + program->value(operand).name, ir::type_of(*program, operand)});
  }
  for (const ir::ValueId result : op.results) {
    phrase.results.push_back("%" + program->value(result).name);
    phrase.result_types.push_back(ir::type_of(*program, result));
  }
  Words words(spelling);
  return spell(phrase, words);
}

TEST(Spell, OperationsAreWrittenAsTheyWereRead) {
  for (const char* const line : {
           "%r = arith.constant 5 : i32",
           "%r = arith.constant dense<0.000000e+00> : tensor<4xf32>",
           "%r = arith.addi %i, %i : i32",
           "%r = arith.cmpi slt, %i, %i : i32",
           "%r = arith.select %c, %i, %i : i32",
           "%r = arith.extsi %i : i32 to i64",
           "%r = tt.get_program_id x : i32",
           "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
           "%r = tt.splat %i : i32 -> tensor<4xi32>",
           "%r = tt.fp_to_fp %x, rounding = rtne : tensor<4xf32> -> tensor<4xf16>",
           "%r = tt.join %x, %x : tensor<4xf32> -> tensor<4x2xf32>",
           "%r = tt.load %p : tensor<4x!tt.ptr<f32>>",
           "%r = tt.load %p, %m, %x : tensor<4x!tt.ptr<f32>>",
           "%r = tt.load %p, %m cacheModifier = cg : tensor<4x!tt.ptr<f32>>",
           "tt.store %p, %x, %m : tensor<4x!tt.ptr<f32>>",
           "%r = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<4x4xf32>> -> "
           "tensor<4x4xf32>",
           "tt.descriptor_store %d[%i, %i], %y : !tt.tensordesc<tensor<4x4xf32>>, tensor<4x4xf32>",
           "ttng.async_tma_store_wait {pendings = 0 : i32}",
           "ttng.fence_async_shared {bCluster = false}",
           "ttng.init_barrier %b, 2 : !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase "
           "= 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable>",
       }) {
    EXPECT_EQ(written(line, Spelling::v3_6), line);
  }
}

/// From Triton 3.8 on, a descriptor's type has its block without the name of its kind.
TEST(Spell, TypesAreOfTheTritonThatReadsThem) {
  EXPECT_EQ(written("%r = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<4x4xf32>> -> "
                    "tensor<4x4xf32>",
                    Spelling::v3_8),
            "%r = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>");
}

}  // namespace
}  // namespace twill::dialect
