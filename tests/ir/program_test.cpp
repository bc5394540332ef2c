#include "twill/ir/program.h"

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/loop.h"

namespace twill::ir {
namespace {

Program read(std::string_view text) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) ADD_FAILURE() << to_string(program.error());
  return program ? *std::move(program) : Program();
}

constexpr std::string_view kLoops = R"(
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c10 = arith.constant 10 : i32
    %zero = arith.constant dense<0xFF800000> : tensor<16xf32>
    %r:2 = scf.for %i = %c0 to %c10 step %c4 iter_args(%a = %c0, %b = %zero) -> (i32, tensor<16xf32>) : i32 {
      %s = scf.for %j = %c0 to %n step %c4 iter_args(%x = %a) -> (i32) : i32 {
        %y = arith.addi %x, %j : i32
        scf.yield %y : i32
      }
      scf.yield %s, %b : i32, tensor<16xf32>
    } {tt.num_stages = 3 : i32}
    %w = scf.while (%k = %r#0) : (i32) -> i32 {
      %c = arith.cmpi slt, %k, %n : i32
      scf.condition(%c) %k : i32
    } do {
    ^bb0(%k: i32):
      %k2 = arith.addi %k, %c4 : i32
      scf.yield %k2 : i32
    }
    tt.return
  }
}
)";

ValueId named(const Program& program, std::string_view name) {
  for (std::size_t i = 0; i < program.value_count(); ++i) {
    if (program.value(ValueId(i)).name == name) return ValueId(i);
  }
  ADD_FAILURE() << "no value " << name;
  return ValueId();
}

// The default loop, --loop N and carried dependences depend on these functions.
TEST(Loops, nesting_order_and_carried_values) {
  const Program program = read(kLoops);
  const std::vector<Loop> found = loops(program, functions(program)[0]);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].depth, 0);
  EXPECT_FALSE(found[0].innermost);
  EXPECT_EQ(found[1].depth, 1);
  EXPECT_TRUE(found[1].innermost);
  EXPECT_EQ(found[1].outer, found[0].op);
  EXPECT_EQ(found[2].outer, std::nullopt);
  ASSERT_EQ(found[0].carried.size(), 2U);
  EXPECT_EQ(found[0].carried[0].init, named(program, "c0"));
  EXPECT_EQ(found[0].carried[0].argument, named(program, "a"));
  EXPECT_EQ(found[0].carried[0].yielded, named(program, "s"));
  EXPECT_EQ(found[0].carried[0].result, named(program, "r#0"));
  ASSERT_EQ(found[2].carried.size(), 1U);
  EXPECT_EQ(found[2].carried[0].yielded, named(program, "k2"));
  ASSERT_EQ(found[2].forwarded.size(), 1U);
  EXPECT_EQ(found[2].forwarded[0].result, named(program, "w"));
}

// Trip counts round up, and unknown bounds stay unknown.
TEST(Loops, constant_trip_count) {
  const Program program = read(kLoops);
  const std::vector<Loop> found = loops(program, program.module());
  EXPECT_EQ(constant_trip_count(program, found[0]), 3);
  EXPECT_EQ(constant_trip_count(program, found[1]), std::nullopt);
  EXPECT_EQ(constant_trip_count(program, found[2]), std::nullopt);
}

// Invariant values need no slot in the schedule.
TEST(Loops, invariance) {
  const Program program = read(kLoops);
  const std::vector<Loop> found = loops(program, program.module());
  EXPECT_TRUE(is_invariant(program, found[0], named(program, "c4")));
  EXPECT_TRUE(is_invariant(program, found[0], named(program, "r#1")));
  EXPECT_TRUE(is_invariant(program, found[1], named(program, "a")));
  EXPECT_FALSE(is_invariant(program, found[0], named(program, "a")));
  EXPECT_FALSE(is_invariant(program, found[0], named(program, "y")));
}

constexpr std::string_view kExits = R"(
tt.func public @f(%p: !tt.ptr<f16>, %n: i32, %c: i1, %d: i1) {
  %c1 = arith.constant 1 : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  cf.cond_br %d, ^bb3, ^bb1
^bb3:
  %r:4 = scf.for %i = %c1 to %n step %c1 iter_args(%a = %n, %b = %p, %e = %n, %g = %n) -> (i32, !tt.ptr<f16>, i32, i32) : i32 {
    %a2 = arith.addi %c1, %a : i32
    %b2 = tt.addptr %b, %n : !tt.ptr<f16>, i32
    %e2 = arith.addi %e, %i : i32
    %g2 = arith.muli %g, %c1 : i32
    scf.yield %a2, %b2, %e2, %g2 : i32, !tt.ptr<f16>, i32, i32
  }
  tt.return
}
)";

// Returns before a loop: each with the value of its condition that leaves the function.
TEST(ControlFlow, path_to) {
  const Program program = read(kExits);
  const Loop loop = loops(program, functions(program).at(0)).at(0);
  const auto alternative = path_to(program, program.op(loop.op).block);
  ASSERT_TRUE(alternative.has_value());
  EXPECT_EQ(alternative->blocks.size(), 3U);
  ASSERT_EQ(alternative->exits.size(), 2U);
  EXPECT_EQ(program.value(alternative->exits[0].condition).name, "c");
  EXPECT_TRUE(alternative->exits[0].when);
  EXPECT_EQ(program.value(alternative->exits[1].condition).name, "d");
  EXPECT_FALSE(alternative->exits[1].when);
  const Program joined = read(R"(
tt.func public @f(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3
^bb2:
  cf.br ^bb3
^bb3:
  tt.return
}
)");
  const RegionId body = joined.op(functions(joined).at(0)).regions.at(0);
  EXPECT_FALSE(path_to(joined, joined.region(body).blocks.at(3)));
}

// A value that grows by an invariant is known in every iteration; other growth is unknown.
TEST(Loops, advance_of) {
  const Program program = read(kExits);
  const Loop loop = loops(program, functions(program).at(0)).at(0);
  const auto by = [&](std::size_t i) -> std::string {
    const auto advance = advance_of(program, loop, loop.carried.at(i).argument);
    return advance ? program.value(advance->by).name : "";
  };
  EXPECT_EQ(by(0), "c1");
  EXPECT_EQ(by(1), "n");
  EXPECT_EQ(by(2), "");
  EXPECT_EQ(by(3), "");
  EXPECT_FALSE(advance_of(program, loop, *loop.induction));
}

TEST(Program, module_and_function_facts) {
  const Program program = read(kLoops);
  EXPECT_EQ(launch_traits(program).num_ctas, 1);
  EXPECT_EQ(launch_traits(program).cuda_target, 90);
  const OpId function = functions(program).at(0);
  EXPECT_EQ(symbol_name(program, function), "f");
  ASSERT_EQ(function_arguments(program, function).size(), 2U);
  EXPECT_EQ(argument_divisor(program, function, 0), 16);
  EXPECT_EQ(argument_divisor(program, function, 1), std::nullopt);
}

// Constants fold masks, predicates and accumulate flags; -inf starts the online maximum.
TEST(Program, constants) {
  const Program program = read(kLoops);
  EXPECT_EQ(constant_integer(program, named(program, "c10")), 10);
  EXPECT_EQ(constant_number(program, named(program, "zero")),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(constant_integer(program, named(program, "zero")), std::nullopt);
  EXPECT_EQ(constant_integer(program, named(program, "n")), std::nullopt);
}

TEST(Program, uses_parents_and_walk) {
  const Program program = read(kLoops);
  const std::vector<Loop> found = loops(program, program.module());
  const Value& x = program.value(named(program, "x"));
  ASSERT_EQ(x.uses.size(), 1U);
  EXPECT_EQ(program.op(x.uses[0].op).kind, OpKind::add);
  EXPECT_EQ(parent(program, x.uses[0].op), found[1].op);
  EXPECT_EQ(enclosing(program, x.uses[0].op, OpKind::function), functions(program)[0]);
  EXPECT_TRUE(is_inside(program, x.uses[0].op, found[0].op));
  EXPECT_FALSE(is_inside(program, x.uses[0].op, found[2].op));
  EXPECT_EQ(walk(program, program.module()).size(), program.op_count());
  EXPECT_EQ(walk(program, found[1].op).size(), 3U);  // the loop, addi, yield
  EXPECT_EQ(walk(program, found[0].op).size(), 5U);  // and the outer loop with its yield
}

}  // namespace
}  // namespace twill::ir
