// Wrong input: the one line a user sees must name the right place and say what to do.
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
    {"module {}\nmodule {}", 2, 1, "behind the module"},
    {"hello", 1, 1, "'hello' is no operation"},
    {"%0 = arith.constant 1 : i33x", 1, 25, "unknown type 'i33x'"},
    {"%0 = foo.bar : tensor<4xf32", 1, 28, "the text ends where '>'"},
    {"%0 = foo.bar : tensor<4xf32, #nope>", 1, 30, "alias '#nope' is nowhere defined"},
    {"%0 = foo.bar : !nope", 1, 16, "type alias '!nope' is nowhere defined"},
    {"#a = #a", 1, 6, "defined by itself"},
    {"#a = 1\n#a = 2", 2, 1, "defined twice"},
    {"foo.bar {a = \"never ends}\n", 1, 14, "this string does not end"},
    {"foo.bar {a = }", 1, 14, "expected an attribute"},
    {"foo.bar \x01", 1, 9, "'\\x01' starts nothing"},
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
    {"%0 = arith.constant 1 : i32\n%2 = arith.addi %0 : i32", 2, 6, "1 value, but 2 wanted"},
    {"%0 = arith.constant 1 : i32\nscf.if %0 {\n}", 2, 1, "the condition has type i32"},
    {"%c = arith.constant true\n%0 = scf.if %c -> (i32) {\n  scf.yield %c : i1\n} else {\n  scf.yield %c : i1\n}", 3, 3, "%c has type i1, but i32 is wanted"},
    {"%c = arith.constant true\n%0 = scf.if %c -> (i1) {\n  scf.yield %c : i1\n}", 2, 6, "needs an else"},
    {"%0 = arith.constant 1 : i32\n%1 = scf.for %i = %0 to %0 step %0 iter_args(%a = %0) -> (i32, i32) : i32 {\n}", 2, 69, "1 loop-carried values, but 2 types"},
    {"%0 = arith.constant 1 : i32\n%1 = scf.for %i = %0 to %0 step %0 iter_args(%a = %0) -> (i32) : i32 {\n  gpu.barrier\n}", 4, 1, "values the loop yields: 0 values, but 1 wanted"},
    {"%0 = arith.constant 1 : i32\nscf.for %i = %0 to %0 step %0 : i64 {\n}", 2, 1, "bounds and step of the loop: %0 has type i32"},
    {"tt.func @f() -> i32 {\n  tt.return\n}", 2, 3, "does not fit the function's type () -> i32"},
    {"tt.func @f() {\n  gpu.barrier\n}", 2, 3, "must end in a return or a branch"},
    {"tt.func @g(%a: i32) {\n  tt.return\n}\ntt.func @f(%a: f32) {\n  tt.call @g(%a) : (f32) -> ()\n  tt.return\n}", 5, 3, "%a has type f32, but i32 is wanted"},
    {"%a, %b, %c = \"x.y\"() : () -> (tensor<16x32xf16>, tensor<16x32xf16>, tensor<16x16xf32>)\n%d = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x32xf16> -> tensor<16x16xf32>", 2, 6, "the tiles of this product do not fit"},
    {"%x = \"x.y\"() : () -> tensor<4xf32>\n%r = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n^bb0(%i: f32):\n  tt.reduce.return %i : f32\n}) : (tensor<4xf32>) -> f32", 2, 6, "2 arguments of the region"},
    {"gpu.barrier {a = 1 : i32, a = 2 : i32}", 1, 1, "attribute 'a' is given twice"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Syntax, Errors, testing::ValuesIn(kSyntax));
INSTANTIATE_TEST_SUITE_P(Names, Errors, testing::ValuesIn(kNames));
INSTANTIATE_TEST_SUITE_P(Structure, Errors, testing::ValuesIn(kStructure));

// The whole message, as people see it.
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
