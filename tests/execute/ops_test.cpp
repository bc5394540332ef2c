#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "execute/running.h"
#include "twill/execute/rounding.h"

// Each family of ops compared with plain C++ on the same numbers.
namespace twill::execute {
namespace {

using testing::at;
using testing::kA;
using testing::kB;
using testing::kOut;
using testing::Ran;
using testing::run;
using testing::storing;

struct NumberCase {
  const char* body;
  double (*expected)(double x, double y);
};

double rounded(double number) { return static_cast<double>(static_cast<float>(number)); }

// Protects: results of each floating-point op, at f32.
TEST(Ops, OfNumbers) {
  const std::string t = "tensor<16xf32>";
  const std::vector<NumberCase> cases = {
      {"arith.addf %x, %y", [](double x, double y) { return x + y; }},
      {"arith.subf %x, %y", [](double x, double y) { return x - y; }},
      {"arith.mulf %x, %y", [](double x, double y) { return x * y; }},
      {"arith.divf %x, %y", [](double x, double y) { return x / y; }},
      {"arith.maxnumf %x, %y", [](double x, double y) { return x > y ? x : y; }},
      {"arith.minnumf %x, %y", [](double x, double y) { return x < y ? x : y; }},
      {"arith.maximumf %x, %y", [](double x, double y) { return x > y ? x : y; }},
      {"arith.negf %x", [](double x, double) { return -x; }},
      {"math.absf %x", [](double x, double) { return x < 0 ? -x : x; }},
      {"math.exp2 %x", [](double x, double) { return std::exp2(x); }},
      {"math.exp %x", [](double x, double) { return std::exp(x); }},
      {"math.floor %x", [](double x, double) { return std::floor(x); }},
      {"math.tanh %x", [](double x, double) { return std::tanh(x); }},
  };
  for (const NumberCase& one : cases) {
    const auto ran = run(storing("%r = " + std::string(one.body) + " : " + t, "f32"));
    ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
    for (int i = 0; i < 16; ++i) {
      const double want = rounded(one.expected(at(ran.memory, kA, i), at(ran.memory, kB, i)));
      EXPECT_NEAR(at(ran.memory, kOut, i), want, 2e-7 * std::abs(want)) << one.body;
    }
  }
}

struct IntegerCase {
  const char* body;
  std::int64_t (*expected)(std::int64_t x, std::int64_t y);
};

// Protects: integer arithmetic, with wrapping at 32 bits and signs. %x and %y are in [0, 64); %z is
// negative.
TEST(Ops, OfIntegers) {
  const std::string before =
      "%c40 = arith.constant dense<40> : tensor<16xi32>\n"
      "%z = arith.subi %x, %c40 : tensor<16xi32>\n"
      "%c7 = arith.constant dense<7> : tensor<16xi32>\n"
      "%big = arith.constant dense<2147483647> : tensor<16xi32>\n%r = ";
  const std::vector<IntegerCase> cases = {
      {"arith.addi %big, %x",
       [](auto x, auto) {
         return static_cast<std::int64_t>(static_cast<std::int32_t>(
             static_cast<std::uint32_t>(2147483647) + static_cast<std::uint32_t>(x)));
       }},
      {"arith.muli %z, %y", [](auto x, auto y) { return (x - 40) * y; }},
      {"arith.divsi %z, %c7", [](auto x, auto) { return (x - 40) / 7; }},
      {"arith.remsi %z, %c7", [](auto x, auto) { return (x - 40) % 7; }},
      {"arith.ceildivsi %z, %c7",
       [](auto x, auto) {
         return static_cast<std::int64_t>(std::ceil(static_cast<double>(x - 40) / 7));
       }},
      {"arith.floordivsi %z, %c7",
       [](auto x, auto) {
         return static_cast<std::int64_t>(std::floor(static_cast<double>(x - 40) / 7));
       }},
      {"arith.divui %z, %c7",
       [](auto x, auto) {
         return static_cast<std::int64_t>(static_cast<std::uint32_t>(x - 40) / 7);
       }},
      {"arith.minsi %z, %y", [](auto x, auto y) { return std::min(x - 40, y); }},
      {"arith.maxui %z, %y",
       [](auto x, auto y) {
         const auto z = static_cast<std::uint32_t>(x - 40);
         return static_cast<std::int64_t>(
             static_cast<std::int32_t>(std::max(z, static_cast<std::uint32_t>(y))));
       }},
      {"arith.andi %z, %y", [](auto x, auto y) { return (x - 40) & y; }},
      {"arith.xori %z, %y", [](auto x, auto y) { return (x - 40) ^ y; }},
      {"arith.shrsi %z, %c7", [](auto x, auto) { return (x - 40) >> 7; }},
      {"arith.shli %z, %c7", [](auto x, auto) { return (x - 40) * 128; }},
  };
  for (const IntegerCase& one : cases) {
    const auto ran = run(storing(before + one.body + " : tensor<16xi32>", "i32", "i32"));
    ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
    for (int i = 0; i < 16; ++i) {
      const auto x = static_cast<std::int64_t>(at(ran.memory, kA, i));
      const auto y = static_cast<std::int64_t>(at(ran.memory, kB, i));
      EXPECT_EQ(at(ran.memory, kOut, i), static_cast<double>(one.expected(x, y))) << one.body;
    }
  }
}

// Protects: comparisons, selection, and conversions between numbers and integers.
TEST(Ops, ConvertAndChoose) {
  const auto ran =
      run(storing("%c = arith.cmpf olt, %x, %y : tensor<16xf32>\n"
                  "%h = arith.truncf %x : tensor<16xf32> to tensor<16xf16>\n"
                  "%w = arith.extf %h : tensor<16xf16> to tensor<16xf32>\n"
                  "%j = arith.sitofp %i : tensor<16xi32> to tensor<16xf32>\n"
                  "%k = arith.fptosi %j : tensor<16xf32> to tensor<16xi32>\n"
                  "%d = arith.cmpi sge, %k, %i : tensor<16xi32>\n"
                  "%e = arith.andi %c, %d : tensor<16xi1>\n"
                  "%r = arith.select %e, %w, %j : tensor<16xi1>, tensor<16xf32>",
                  "f32"));
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  ir::TypeTable types;
  const Format half = format_of(types.scalar("f16")).value();
  for (int i = 0; i < 16; ++i) {
    const double x = at(ran.memory, kA, i), y = at(ran.memory, kB, i);
    const double want = x < y ? static_cast<double>(round_to(half, x)) : i;
    EXPECT_EQ(at(ran.memory, kOut, i), want);
  }
}

// Protects: the shape of tiles: expand, broadcast, transpose, reshape, reduce along either axis.
TEST(Ops, ViewsAndReductions) {
  const auto ran = run(storing(
      "%e = tt.expand_dims %x {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>\n"
      "%f = tt.expand_dims %y {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>\n"
      "%g = tt.broadcast %e : tensor<16x1xf32> -> tensor<16x16xf32>\n"
      "%h = tt.broadcast %f : tensor<1x16xf32> -> tensor<16x16xf32>\n"
      "%p = arith.mulf %g, %h : tensor<16x16xf32>\n"
      "%q = arith.addf %p, %g : tensor<16x16xf32>\n"
      "%t = tt.trans %q {order = array<i32: 1, 0>} : tensor<16x16xf32> -> tensor<16x16xf32>\n"
      "%u = tt.reshape %t : tensor<16x16xf32> -> tensor<1x16x16xf32>\n"
      "%v = tt.reshape %u : tensor<1x16x16xf32> -> tensor<16x16xf32>\n"
      "%r = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
      "^bb0(%l: f32, %m: f32):\n"
      "  %z = arith.addf %l, %m : f32\n"
      "  tt.reduce.return %z : f32\n"
      "}) : (tensor<16x16xf32>) -> tensor<16xf32>",
      "f32"));
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (int i = 0; i < 16; ++i) {
    float sum = 0;  // over the columns of row i, in order
    for (int j = 0; j < 16; ++j) {
      const auto x = static_cast<float>(at(ran.memory, kA, i));
      const auto y = static_cast<float>(at(ran.memory, kB, j));
      const float term = x * y + x;
      sum = j == 0 ? term : sum + term;
    }
    EXPECT_EQ(at(ran.memory, kOut, i), static_cast<double>(sum));
  }
}

// Protects: products accumulate in f32, k ascending; masks and defaults of loads; loops, branches.
TEST(Ops, ProductsMasksAndControl) {
  const auto ran = run(storing(
      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c3 = arith.constant 3 : i32\n"
      "%zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
      "%five = arith.constant dense<5.0> : tensor<16xf32>\n"
      "%limit = arith.constant dense<12> : tensor<16xi32>\n"
      "%mask = arith.cmpi slt, %i, %limit : tensor<16xi32>\n"
      "%m = tt.load %ap, %mask, %five : tensor<16x!tt.ptr<f32>>\n"
      "%e = tt.expand_dims %m {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>\n"
      "%f = tt.expand_dims %y {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>\n"
      "%g = tt.broadcast %e : tensor<16x1xf32> -> tensor<16x16xf32>\n"
      "%h = tt.broadcast %f : tensor<1x16xf32> -> tensor<16x16xf32>\n"
      "%acc = scf.for %n0 = %c0 to %c3 step %c1 iter_args(%old = %zero) -> (tensor<16x16xf32>) : "
      "i32 {\n"
      "  %odd = arith.cmpi eq, %n0, %c1 : i32\n"
      "  %new = scf.if %odd -> (tensor<16x16xf32>) {\n"
      "    scf.yield %old : tensor<16x16xf32>\n"
      "  } else {\n"
      "    %d = tt.dot %g, %h, %old : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
      "    scf.yield %d : tensor<16x16xf32>\n"
      "  }\n"
      "  scf.yield %new : tensor<16x16xf32>\n"
      "}\n"
      "%r = \"tt.reduce\"(%acc) <{axis = 1 : i32}> ({\n"
      "^bb0(%l: f32, %k: f32):\n"
      "  %z = arith.maxnumf %l, %k : f32\n"
      "  tt.reduce.return %z : f32\n"
      "}) : (tensor<16x16xf32>) -> tensor<16xf32>",
      "f32"));
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (int i = 0; i < 16; ++i) {
    float most = -HUGE_VALF;
    for (int j = 0; j < 16; ++j) {
      const float a = i < 12 ? static_cast<float>(at(ran.memory, kA, i)) : 5.0F;
      const auto b = static_cast<float>(at(ran.memory, kB, j));
      float sum = 0;
      for (int k = 0; k < 2 * 16; ++k) sum += a * b;  // two of three trips
      most = std::max(most, sum);
    }
    EXPECT_EQ(at(ran.memory, kOut, i), static_cast<double>(most));
  }
}

/// Message of the reader or the interpreter, whichever refuses the text first.
std::string refusal(const std::string& body) {
  const std::string text = storing(body, "f32");
  if (const auto read = frontend::read_ttgir(text, "test.ttgir"); !read) {
    return to_string(read.error());
  }
  const auto ran = run(text);
  return ran.result ? "" : to_string(ran.result.error());
}

// Protects: reads through descriptors that a kernel makes. Outside of the tensor they return zero,
// or NaN if the descriptor says so; inside they return the elements.
TEST(Ops, PadsOutsideOfTensors) {
  for (const std::string padding : {"", " {padding = 1 : i32}", " {padding = 2 : i32}"}) {
    const std::string body =
        "%c12 = arith.constant 12 : i32\n%c0 = arith.constant 0 : i32\n"
        "%one = arith.constant 1 : i64\n%d = tt.make_tensor_descriptor %a, [%c12], [%one]" +
        padding +
        " : <f32>, <tensor<16xf32>>\n"
        "%r = tt.descriptor_load %d[%c0] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>";
    const auto ran = run(storing(body, "f32"));
    ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
    EXPECT_EQ(at(ran.memory, kOut, 11), at(ran.memory, kA, 11));
    const double outside = at(ran.memory, kOut, 12);
    EXPECT_TRUE(padding.ends_with("2 : i32}") ? std::isnan(outside) : outside == 0) << padding;
  }
}

// Protects: an unknown op is refused at its line; its result is not invented.
TEST(Ops, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusal("%r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16xf32>, tensor<16xi32>) -> "
                    "tensor<16xf32>")
                .find("test.ttgir:9:6: error: cannot be executed: tt.gather is not known"),
            std::string::npos);
  EXPECT_NE(refusal("%c = arith.subi %i, %i : tensor<16xi32>\n"
                    "%d = arith.divsi %i, %c : tensor<16xi32>\n"
                    "%r = arith.negf %x : tensor<16xf32>")
                .find("divides by zero"),
            std::string::npos);
  EXPECT_NE(
      refusal("%r = \"test.mystery\"(%x) : (tensor<16xf32>) -> tensor<16xf32>").find("mystery"),
      std::string::npos);
  EXPECT_NE(refusal("%d = arith.extf %x : tensor<16xf32> to tensor<16xf64>\n"
                    "%r = arith.truncf %d : tensor<16xf64> to tensor<16xf32>")
                .find("makes f64"),
            std::string::npos);
  EXPECT_NE(refusal("%r = arith.addf %i, %i : tensor<16xi32>").find("takes no tensor<16xi32>"),
            std::string::npos);
}

struct Misfit {
  const char* body;
  const char* op;
};

// Protects: ops whose types contradict each other are refused at their line, before evaluation,
// which reads only one of the types.
TEST(Ops, RefusesTypesThatDoNotFit) {
  const std::vector<Misfit> misfits = {
      {"%w = tt.expand_dims %x {axis = 0 : i32} : tensor<16xf32> -> tensor<1x64xf32>",
       "tt.expand_dims"},
      {"%w = tt.expand_dims %x {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xi32>",
       "tt.expand_dims"},
      {"%w = tt.reshape %x : tensor<16xf32> -> tensor<4x8xf32>", "tt.reshape"},
      {"%w = tt.broadcast %x : tensor<16xf32> -> tensor<32xf32>", "tt.broadcast"},
      {"%m = tt.reshape %x : tensor<16xf32> -> tensor<2x8xf32>\n"
       "%w = tt.trans %m {order = array<i32: 1, 0>} : tensor<2x8xf32> -> tensor<2x8xf32>",
       "tt.trans"},
      {"%w = tt.splat %s : f32 -> tensor<16xi32>", "tt.splat"},
      {"%w = \"tt.load\"(%ap) : (tensor<16x!tt.ptr<f32>>) -> tensor<16xi32>", "tt.load"},
      {"%w = \"tt.load\"(%ap) : (tensor<16x!tt.ptr<f32>>) -> tensor<32xf32>", "tt.load"},
      {"%w = arith.sitofp %i : tensor<16xi32> to tensor<32xf32>", "arith.sitofp"},
      {"%c16 = arith.constant 16 : i32\n%c0 = arith.constant 0 : i32\n"
       "%one = arith.constant 1 : i64\n"
       "%d = tt.make_tensor_descriptor %a, [%c16], [%one] : <f32>, <tensor<16xf32>>\n"
       "%w = tt.descriptor_load %d[%c0] : !tt.tensordesc<tensor<16xf32>> -> tensor<32xf32>",
       "tt.descriptor_load"},
  };
  for (const Misfit& one : misfits) {
    const std::string text =
        refusal(std::string(one.body) + "\n%r = arith.negf %x : tensor<16xf32>");
    EXPECT_NE(text.find("error: '" + std::string(one.op) + "'"), std::string::npos)
        << one.body << "\n"
        << text;
  }
}

// Scans return running results, and joined tiles can be split again.
TEST(Ops, ScansJoinsAndSplits) {
  const auto scan = run(storing(R"(%r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
^bb0(%p: f32, %q: f32):
  %t = arith.addf %p, %q : f32
  tt.scan.return %t : f32
}) : (tensor<16xf32>) -> tensor<16xf32>)",
                                "f32"));
  ASSERT_TRUE(scan.result.has_value()) << to_string(scan.result.error());
  double sum = 0;
  for (std::int64_t i = 0; i < 16; ++i) {
    sum = rounded(sum + at(scan.memory, kA, i));
    EXPECT_EQ(at(scan.memory, kOut, i), sum) << i;
  }
  const auto parts =
      run(storing("%j = tt.join %x, %y : tensor<16xf32> -> tensor<16x2xf32>\n"
                  "%f, %g = tt.split %j : tensor<16x2xf32> -> tensor<16xf32>\n"
                  "%r = arith.subf %f, %g : tensor<16xf32>",
                  "f32"));
  ASSERT_TRUE(parts.result.has_value()) << to_string(parts.result.error());
  for (std::int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(at(parts.memory, kOut, i),
              rounded(at(parts.memory, kA, i) - at(parts.memory, kB, i)));
  }
}

// Functions of the device library compute their named functions; calls of unknown functions are
// refused.
TEST(Ops, CallsDeviceFunctions) {
  const auto calling = [](const std::string& symbol) {
    return run(
        storing("%r = tt.extern_elementwise %x {libname = \"\", libpath = \"\", pure = true, "
                "symbol = \"" +
                    symbol + "\"} : (tensor<16xf32>) -> tensor<16xf32>",
                "f32"));
  };
  const auto ran = calling("__nv_tanhf");
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  const auto x = static_cast<float>(at(ran.memory, kA, 3));
  EXPECT_EQ(at(ran.memory, kOut, 3), static_cast<double>(std::tanh(x)));
  EXPECT_FALSE(calling("__nv_j0f").result.has_value());
}

/// Stores result `result` of assembly on two tiles of i32.
Ran assembled(const std::string& text, const std::string& result, const std::string& outputs) {
  return run(storing("%t:2 = tt.elementwise_inline_asm \"" + text + "\" {constraints = \"" +
                         outputs +
                         ",r,r\", packed_element = 1 : i32, pure = true} %x, %y : tensor<16xi32>, "
                         "tensor<16xi32> -> tensor<16xi32>, tensor<16xi32>\n%u = arith.addi %t#" +
                         result + ", %i : tensor<16xi32>\n%r = arith.subi %u, %i : tensor<16xi32>",
                     "i32", "i32"));
}

// Protects: assembly on integers, with several results, as kernels unpack small numbers. An unknown
// instruction is refused, not guessed.
TEST(Ops, CarriesOutAssemblyOnIntegers) {
  const std::string nibbles =
      "and.b32 $0, $2, 15; shr.u32 $1, $3, 4; lop3.b32 $1, $1, 3, 0x1, 0xEA;";
  for (const int i : {0, 3, 15}) {
    const auto low = assembled(nibbles, "0", "=r,=r"), high = assembled(nibbles, "1", "=r,=r");
    ASSERT_TRUE(low.result.has_value()) << to_string(low.result.error());
    ASSERT_TRUE(high.result.has_value()) << to_string(high.result.error());
    const auto x = static_cast<int>(at(low.memory, kA, i));
    const auto y = static_cast<int>(at(high.memory, kB, i));
    EXPECT_EQ(at(low.memory, kOut, i), x & 15);
    EXPECT_EQ(at(high.memory, kOut, i), ((y >> 4) & 3) | 1);
  }
  const auto unknown = assembled("mov.u32 $0, %clock; mov.u32 $1, $2;", "1", "=r,=r");
  ASSERT_FALSE(unknown.result.has_value());
  EXPECT_NE(to_string(unknown.result.error()).find("assembly whose meaning is not known"),
            std::string::npos);
}

// Protects: a float array accessed through a pointer to integers, as atomics on floats do. An
// exchange stores another value than it returns.
TEST(Ops, SeesBitsThroughPointersAndExchanges) {
  const auto seen =
      run(storing("%q = tt.bitcast %ap : tensor<16x!tt.ptr<f32>> -> tensor<16x!tt.ptr<i32>>\n"
                  "%r = tt.load %q : tensor<16x!tt.ptr<i32>>",
                  "i32"));
  ASSERT_TRUE(seen.result.has_value()) << to_string(seen.result.error());
  const auto x = static_cast<float>(at(seen.memory, kA, 3));
  EXPECT_EQ(at(seen.memory, kOut, 3), std::bit_cast<std::int32_t>(x));
  const auto swapped = run(
      storing("%all = arith.constant dense<true> : tensor<16xi1>\n"
              "%r = tt.atomic_rmw exch, acq_rel, gpu, %ap, %y, %all : (tensor<16x!tt.ptr<f32>>, "
              "tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>",
              "f32"));
  ASSERT_TRUE(swapped.result.has_value()) << to_string(swapped.result.error());
  EXPECT_EQ(at(swapped.memory, kOut, 3), static_cast<double>(x));
  EXPECT_EQ(at(swapped.memory, kA, 3), at(swapped.memory, kB, 3));
}

/// Stores n, unless n is negative or, in the next block, above 5.
std::string returning_early() {
  return R"(tt.func public @f(%n: i32, %o: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %five = arith.constant 5 : i32
  %true = arith.constant true
  llvm.intr.assume %true : i1
  %below = arith.cmpi slt, %n, %zero : i32
  cf.cond_br %below, ^bb3, ^bb1
^bb1:
  %above = arith.cmpi sgt, %n, %five : i32
  cf.cond_br %above, ^bb2(%five : i32), ^bb2(%n : i32)
^bb2(%least: i32):
  tt.store %o, %least : !tt.ptr<i32>
  cf.br ^bb3
^bb3:
  tt.return
}
)";
}

// Ops after a `return` in a conditional are in blocks of their own.
TEST(Ops, BranchesBetweenBlocks) {
  const auto stored = [](double n) {
    Launch launch;
    launch.arguments["n"] = n;
    auto ran = run(returning_early(), launch);
    EXPECT_TRUE(ran.result.has_value());
    return ran.memory.written(0);
  };
  EXPECT_TRUE(stored(-1).empty());
  EXPECT_EQ(stored(3), Memory::Written({{0, 3}}));
  EXPECT_EQ(stored(9), Memory::Written({{0, 5}}));
}

// Protects: arguments by name, and the refusal of a name that the kernel does not have.
TEST(Ops, TakesArguments) {
  const std::string text = storing("%r = tt.splat %s : f32 -> tensor<16xf32>", "f32");
  Launch launch;
  launch.arguments["s"] = 3;
  EXPECT_EQ(at(run(text, launch).memory, kOut, 0), 3);
  EXPECT_EQ(at(run(text).memory, kOut, 0), 0.125);
  launch.arguments["q"] = 3;
  EXPECT_NE(to_string(run(text, launch).result.error()).find("has no argument %q"),
            std::string::npos);
}

// Protects: loops with bounds at the ends of 64 bits have the right trips, and an exact counter.
TEST(Ops, LoopsAtTheEndsOf64Bits) {
  struct Case {
    const char* lower;
    const char* upper;
    const char* step;
    std::int64_t trips, last;
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  for (const Case& now : {
           Case{"9223372036854775800", "9223372036854775807", "4", 2, kMost - 3},
           Case{"-9223372036854775808", "9223372036854775807", "4611686018427387904", 4,
                kMost / 2 + 1},
           Case{"-9223372036854775808", "9223372036854775807", "9223372036854775807", 3, kMost - 1},
           Case{"-9223372036854775808", "-9223372036854775807", "1", 1, kLeast},
           Case{"5", "-9223372036854775808", "1", 0, 7},
       }) {
    const auto ran = run(storing(
        fmt::format("%lower = arith.constant {} : i64\n%upper = arith.constant {} : i64\n"
                    "%step = arith.constant {} : i64\n%zero = arith.constant 0 : i64\n"
                    "%seven = arith.constant 7 : i64\n%one = arith.constant 1 : i64\n"
                    "%ran:2 = scf.for %u = %lower to %upper step %step iter_args(%k = %zero, "
                    "%before = %seven) -> (i64, i64) : i64 {{\n"
                    "  %m = arith.addi %k, %one : i64\n  scf.yield %m, %u : i64, i64\n}}\n"
                    "%trips = arith.constant {} : i64\n%last = arith.constant {} : i64\n"
                    "%same = arith.cmpi eq, %ran#0, %trips : i64\n"
                    "%exact = arith.cmpi eq, %ran#1, %last : i64\n"
                    "%both = arith.andi %same, %exact : i1\n"
                    "%wide = arith.extui %both : i1 to i32\n"
                    "%float = arith.sitofp %wide : i32 to f32\n"
                    "%r = tt.splat %float : f32 -> tensor<16xf32>",
                    now.lower, now.upper, now.step, now.trips, now.last),
        "f32"));
    EXPECT_EQ(at(ran.memory, kOut, 0), 1) << now.lower << " to " << now.upper;
  }
}

// Protects: an endless program is stopped.
TEST(Ops, EndsAfterManySteps) {
  EXPECT_NE(refusal("%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
                    "%m = arith.constant 90000 : i32\n"
                    "scf.for %u = %c0 to %m step %c1 : i32 {\n"
                    "  scf.for %v = %c0 to %m step %c1 : i32 {\n"
                    "    %w = arith.addi %u, %v : i32\n  }\n}\n"
                    "%r = arith.negf %x : tensor<16xf32>")
                .find("after too many others"),
            std::string::npos);
}

}  // namespace
}  // namespace twill::execute
