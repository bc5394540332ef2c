// Wrong input: the message must name the right place and say what to do.
#include <algorithm>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

struct Case {
  const char* text;
  int line;
  int column;
  const char* message;  ///< part of it
};

class Errors : public testing::TestWithParam<Case> {};

TEST_P(Errors, are_at_the_right_place) {
  const Case& expected = GetParam();
  const auto program = frontend::read_ttgir(expected.text, "bad.ttgir");
  ASSERT_FALSE(program) << expected.text;
  const Diagnostic& error = program.error();
  EXPECT_EQ(error.location.line, expected.line) << to_string(error);
  EXPECT_EQ(error.location.column, expected.column) << to_string(error);
  EXPECT_NE(error.message.find(expected.message), std::string::npos) << to_string(error);
  EXPECT_EQ(error.location.file, "bad.ttgir");
  EXPECT_EQ(error.source_line, std::string(line_of(expected.text, expected.line)));
}

// clang-format off
const Case kSyntax[] = {
    {"", 1, 1, "the text ends where a module"},
    {"module {", 1, 9, "the text ends where '}'"},
    {"module {\n  %0 = arith.constant\n}", 3, 1, "expected an attribute, found '}'"},
    {"module {}\nmodule {}", 2, 1, "text follows the module"},
    {"hello", 1, 1, "'hello' is no operation"},
    {"%0 = arith.constant 1 : i33x", 1, 25, "unknown type 'i33x'"},
    {"%0 = foo.bar : tensor<4xf32", 1, 28, "the text ends where '>'"},
    {"%0 = foo.bar : tensor<4xf32, #nope>", 1, 30, "alias '#nope' is nowhere defined"},
    {"%0 = foo.bar : !nope", 1, 16, "type alias '!nope' is nowhere defined"},
    {"#a = #a", 1, 6, "defined by itself"},
    {"#a = 1\n#a = 2", 2, 1, "defined twice"},
    {"foo.bar {a = \"never ends}\n", 1, 14, "this string does not end"},
    {"foo.bar {a = }", 1, 14, "expected an attribute"},
    {"foo.bar \x01", 1, 9, "'\\x01' is no token of MLIR"},
    {"%0:0 = foo.bar : i32", 1, 4, "1 to 10000 results"},
    {"%0 = foo.bar : tensor<99999999999999999999xf32>", 1, 23, "does not fit 64 bits"},
    {"\"a.b\"() ({", 1, 11, "the text ends where '}'"},
    {"\"a.b\"() : ()", 1, 13, "the text ends where '->'"},
    {"gpu.barrier loc(\"f\":1)", 1, 22, "expected ':' between line and column"},
    {"scf.for %i = %a", 1, 14, "'%a' is not defined"},
};

const Case kNames[] = {
    {"%0 = arith.addi %1, %1 : i32", 1, 17, "'%1' is not defined before this use"},
    {"%0 = arith.constant 1 : i32\n%0 = arith.constant 2 : i32", 2, 1, "defined a second time"},
    {"%0:2 = \"a.b\"() : () -> (i32, i32)\n\"a.c\"(%0#2) : (i32) -> ()", 2, 7, "has 2 values, not a #2"},
    {"%c = arith.constant true\nscf.if %c {\n  %x = arith.constant 1 : i32\n}\n\"a.b\"(%x) : (i32) -> ()", 5, 7, "'%x' is not defined"},
    {"%x = arith.constant 1 : i32\ntt.func @f() {\n  %y = arith.addi %x, %x : i32\n  tt.return\n}", 3, 19, "'%x' is not defined"},
    {"tt.func @f() {\n  cf.br ^bb7\n}", 2, 9, "no block '^bb7'"},
    {"tt.func @f() {\n  cf.br ^bb1\n^bb1:\n  %y = arith.addi %x, %x : i32\n  tt.return\n}", 4, 19, "never defined in this region"},
    {"tt.func @f() {\n  tt.return\n^bb1:\n  tt.return\n^bb1:\n  tt.return\n}", 5, 1, "two blocks of this name"},
    {"tt.func @f() {\n  tt.call @g() : () -> ()\n  tt.return\n}", 2, 3, "there is no function @g"},
};

const Case kStructure[] = {
    {"%0 = \"a.b\"() : () -> (i32, i32)", 1, 6, "1 results, its types 2"},
    {"%0 = arith.constant 1 : i32\n\"a.b\"(%0) : (i64) -> ()", 2, 13, "%0 has type i32, not i64"},
    {"%0 = arith.constant 1 : i32\n\"a.b\"(%0) : () -> ()", 2, 13, "1 operands, but 0 types"},
    {"%0, %1 = \"a.b\"() : () -> (i32, i64)\n%2 = arith.addi %0, %1 : i32", 2, 6, "%1 has type i64, but i32 is wanted"},
    {"%0 = arith.constant 1 : i32\n%2 = arith.addi %0 : i32", 2, 6, "takes 2 operands and makes 1 result"},
    {"%0 = arith.constant 1 : i32\nscf.if %0 {\n}", 2, 1, "%0 has type i32, but i1 is wanted"},
    {"%c = arith.constant true\n%0 = scf.if %c -> (i32) {\n  scf.yield %c : i1\n} else {\n  scf.yield %c : i1\n}", 3, 3, "%c has type i1, but i32 is wanted"},
    {"%c = arith.constant true\n%0 = scf.if %c -> (i1) {\n  scf.yield %c : i1\n}", 2, 6, "needs an else"},
    {"%0 = arith.constant 1 : i32\n%1 = scf.for %i = %0 to %0 step %0 iter_args(%a = %0) -> (i32, i32) : i32 {\n}", 2, 69, "1 loop-carried values, but 2 types"},
    {"%0 = arith.constant 1 : i32\n%1 = scf.for %i = %0 to %0 step %0 iter_args(%a = %0) -> (i32) : i32 {\n  gpu.barrier\n}", 4, 1, "values the loop yields: 0 values, but 1 wanted"},
    {"%0 = arith.constant 1 : i32\nscf.for %i = %0 to %0 step %0 : i64 {\n}", 2, 1, "%0 has type i32, but i64 is wanted"},
    {"tt.func @f() -> i32 {\n  tt.return\n}", 2, 3, "does not fit the function's type () -> i32"},
    {"tt.func @f() {\n  gpu.barrier\n}", 2, 3, "must end in a return or a branch"},
    {"tt.func @g(%a: i32) {\n  tt.return\n}\ntt.func @f(%a: f32) {\n  tt.call @g(%a) : (f32) -> ()\n  tt.return\n}", 5, 3, "%a has type f32, but i32 is wanted"},
    {"%a, %b, %c = \"x.y\"() : () -> (tensor<16x32xf16>, tensor<16x32xf16>, tensor<16x16xf32>)\n%d = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x32xf16> -> tensor<16x16xf32>", 2, 6, "the tiles of this product do not fit"},
    {"%x = \"x.y\"() : () -> tensor<4xf32>\n%r = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n^bb0(%i: f32):\n  tt.reduce.return %i : f32\n}) : (tensor<4xf32>) -> f32", 2, 6, "2 arguments of the region"},
    {"gpu.barrier {a = 1 : i32, a = 2 : i32}", 1, 1, "attribute 'a' is given twice"},
};
/// Ops whose types do not fit each other. Each was once scheduled or printed.
const std::string kTypes =
    R"(#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#s32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
%i, %f, %h, %p = "x.y"() : () -> (tensor<16xi32>, tensor<16xf32>, tensor<16xf16>, tensor<16x!tt.ptr<f16>>)
%a, %b, %w, %z = "x.y"() : () -> (!ttg.memdesc<64x64xf16, #s16, #smem>, !ttg.memdesc<64x64xf16, #s16, #smem>, !ttg.memdesc<64x64xf32, #s32, #smem>, tensor<64x64xf32, #mma>)
%a8, %b8 = "x.y"() : () -> (!ttg.memdesc<64x8xf16, #s16, #smem>, !ttg.memdesc<8x64xf16, #s16, #smem>)
%t, %d, %m, %s = "x.y"() : () -> (tensor<64x64xf16>, !tt.tensordesc<tensor<64x64xf16, #s16>>, tensor<16xi1>, f32)
%c0 = arith.constant 0 : i32
)";

struct TypeCase {
  const char* op;
  const char* message;  ///< part of it
};

const TypeCase kMisfits[] = {
    {"%r = \"x.y\"() : () -> tensor<128x3xf16>", "extents of tensors are powers of two"},
    {"%r = \"x.y\"() : () -> !ttg.memdesc<64x64xf32, #s16, #smem>", "its layout is for elements of 16 bits"},
    {"%r = ttng.warp_group_dot %a, %w, %z : !ttg.memdesc<64x64xf16, #s16, #smem> * !ttg.memdesc<64x64xf32, #s32, #smem> -> tensor<64x64xf32, #mma>", "elements of f16 and of f32"},
    {"%r = ttng.warp_group_dot %w, %w, %z : !ttg.memdesc<64x64xf32, #s32, #smem> * !ttg.memdesc<64x64xf32, #s32, #smem> -> tensor<64x64xf32, #mma>", "instruction is 16 deep, that of f32 8"},
    {"%r = ttng.warp_group_dot %a8, %b8, %z : !ttg.memdesc<64x8xf16, #s16, #smem> * !ttg.memdesc<8x64xf16, #s16, #smem> -> tensor<64x64xf32, #mma>", "no multiple of the instruction's 16"},
    {"%r = ttng.warp_group_dot %a8, %b, %z : !ttg.memdesc<64x8xf16, #s16, #smem> * !ttg.memdesc<64x64xf16, #s16, #smem> -> tensor<64x64xf32, #mma>", "the tiles of this product do not fit"},
    {"%r = ttg.local_alloc %t : (tensor<64x64xf16>) -> !ttg.memdesc<64x32xf16, #s16, #smem>", "%t has type tensor<64x64xf16>, but 64x32 is wanted"},
    {"%r = ttg.local_alloc %t : (tensor<64x64xf16>) -> !ttg.memdesc<64x64xf32, #s32, #smem>", "elements of f32 are wanted"},
    {"%r = ttg.local_load %a : !ttg.memdesc<64x64xf16, #s16, #smem> -> tensor<64x32xf16>", "64x64 is wanted"},
    {"%r = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x64xf16, #s16>> -> tensor<64x128xf16>", "the descriptor's block is tensor<64x64xf16"},
    {"%r = \"tt.load\"(%p) : (tensor<16x!tt.ptr<f16>>) -> tensor<16xf32>", "elements of f16 are wanted"},
    {"tt.store %p, %f : tensor<16x!tt.ptr<f16>>", "elements of f16 are wanted"},
    {"%r = \"tt.load\"(%f) : (tensor<16xf32>) -> tensor<16xf32>", "takes pointers"},
    {"%r = tt.addptr %p, %f : tensor<16x!tt.ptr<f16>>, tensor<16xf32>", "integers are wanted"},
    {"%r = arith.extf %f : tensor<16xf32> to tensor<16xf16>", "makes no f16 of f32"},
    {"%r = arith.truncf %i : tensor<16xi32> to tensor<16xf16>", "makes no f16 of i32"},
    {"%r = arith.truncf %f : tensor<16xf32> to tensor<32xf16>", "32 is wanted"},
    {"%r = arith.addf %i, %i : tensor<16xi32>", "takes no tensor<16xi32>"},
    {"%r = arith.addi %f, %f : tensor<16xf32>", "takes no tensor<16xf32>"},
    {"%r = \"arith.cmpf\"(%f, %h) <{predicate = 1 : i64}> : (tensor<16xf32>, tensor<16xf16>) -> tensor<16xi1>", "tensor<16xf32> is wanted"},
    {"%r = \"arith.select\"(%i, %f, %f) : (tensor<16xi32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>", "i1 is wanted"},
    {"%r = tt.splat %s : f32 -> tensor<16xf16>", "f16 is wanted"},
    {"%r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<32xi32>", "16 is wanted"},
    {"%r = tt.expand_dims %f {axis = 5 : i32} : tensor<16xf32> -> tensor<16x1xf32>", "'axis' from 0 to 1"},
    {"%r = tt.broadcast %f : tensor<16xf32> -> tensor<32xf32>", "only extents of 1 can become 32"},
    {"%r = tt.trans %t {order = array<i32: 1, 1>} : tensor<64x64xf16> -> tensor<64x64xf16>", "names a dimension twice"},
    {"%r = tt.trans %t {order = array<i32: 2147483647, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>", "or one there is not"},
    {"%r = tt.reshape %f : tensor<16xf32> -> tensor<4x8xf32>", "as many elements as 16"},
    {"%r = ttg.convert_layout %f : tensor<16xf32> -> tensor<16xf16>", "elements of f32 are wanted"},
    {"%r = \"tt.reduce\"(%t) <{axis = 1 : i32}> ({\n^bb0(%x: f16, %y: f16):\n  tt.reduce.return %x : f16\n}) : (tensor<64x64xf16>) -> tensor<32xf16>", "64 is wanted"},
    {"%r = \"tt.reduce\"(%t) <{axis = 2 : i32}> ({\n^bb0(%x: f16, %y: f16):\n  tt.reduce.return %x : f16\n}) : (tensor<64x64xf16>) -> tensor<64xf16>", "it has no axis 2"},
    {"%r = \"tt.reduce\"(%t) <{axis = 1 : i32}> ({\n^bb0(%x: f32, %y: f32):\n  tt.reduce.return %x : f32\n}) : (tensor<64x64xf16>) -> tensor<64xf16>", "f16 is wanted"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Syntax, Errors, testing::ValuesIn(kSyntax));
INSTANTIATE_TEST_SUITE_P(Names, Errors, testing::ValuesIn(kNames));
INSTANTIATE_TEST_SUITE_P(Structure, Errors, testing::ValuesIn(kStructure));

// Protects: the reader refuses ops whose types do not fit, at their line. So meaningless ops are
// neither scheduled nor printed.
TEST(Types, that_do_not_fit_are_refused) {
  ASSERT_TRUE(frontend::read_ttgir(kTypes, "preamble").has_value());
  const auto lines = static_cast<int>(std::count(kTypes.begin(), kTypes.end(), '\n'));
  for (const TypeCase& misfit : kMisfits) {
    const auto program = frontend::read_ttgir(kTypes + misfit.op, "bad.ttgir");
    ASSERT_FALSE(program) << misfit.op;
    const Diagnostic& error = program.error();
    EXPECT_NE(error.message.find(misfit.message), std::string::npos) << to_string(error);
    EXPECT_EQ(error.location.line, lines + 1) << to_string(error);
    EXPECT_EQ(error.location.column, misfit.op[0] == '%' ? 6 : 1) << to_string(error);
    EXPECT_FALSE(error.source_line.empty()) << to_string(error);
  }
}

// Checks the whole message, as users see it.
TEST(ErrorText, shows_line_caret_and_hint) {
  const auto program =
      frontend::read_ttgir("module {\n  %0 = arith.addi %one, %one : i32\n}\n", "k.ttgir");
  ASSERT_FALSE(program);
  EXPECT_EQ(to_string(program.error()),
            "k.ttgir:2:19: error: '%one' is not defined before this use\n"
            "    %0 = arith.addi %one, %one : i32\n"
            "                    ^\n"
            "hint: a value is visible in its own region and the ones inside, from its definition "
            "on\n");
}

}  // namespace
}  // namespace twill::tests
