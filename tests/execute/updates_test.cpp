#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "execute/running.h"

// Updates of memory other than plain stores, and assembly on several elements at a time.
namespace twill::execute {
namespace {

using testing::at;
using testing::kA;
using testing::kB;
using testing::kOut;
using testing::Ran;
using testing::run;
using testing::storing;

Launch given(const std::map<std::string, std::string>& arrays) {
  Launch launch;
  for (const auto& [name, values] : arrays) launch.arrays[name] = read_values(values).value();
  return launch;
}

/// The first array, updated by the second; both have the elements -8 to 7, at different places.
Ran updated(const std::string& how) {
  const std::string body =
      "%all = arith.constant dense<true> : tensor<16xi1>\n"
      "%r = tt.atomic_rmw " +
      how +
      ", relaxed, gpu, %ap, %y, %all : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, "
      "tensor<16xi1>) -> tensor<16xi32>";
  return run(storing(body, "i32", "i32"), given({{"a", "-8..8"}, {"b", "-8..8"}}));
}

struct UpdateCase {
  const char* how;
  std::int32_t (*expected)(std::int32_t old, std::int32_t value);
};

// Protects: the value that each atomic operation on integers stores, and the returned old value.
TEST(Updates, OfIntegers) {
  const auto bits = [](std::int32_t number) { return static_cast<std::uint32_t>(number); };
  static const auto kUnsigned = bits;
  const UpdateCase cases[] = {
      {"add", [](auto a, auto b) { return a + b; }},
      {"max", [](auto a, auto b) { return std::max(a, b); }},
      {"min", [](auto a, auto b) { return std::min(a, b); }},
      {"umax", [](auto a, auto b) { return kUnsigned(a) < kUnsigned(b) ? b : a; }},
      {"umin", [](auto a, auto b) { return kUnsigned(a) < kUnsigned(b) ? a : b; }},
      {"and", [](auto a, auto b) { return a & b; }},
      {"or", [](auto a, auto b) { return a | b; }},
      {"xor", [](auto a, auto b) { return a ^ b; }},
      {"exch", [](auto, auto b) { return b; }}};
  for (const UpdateCase& one : cases) {
    const auto ran = updated(one.how);
    ASSERT_TRUE(ran.result.has_value()) << one.how << to_string(ran.result.error());
    for (std::int64_t i = 0; i < 16; ++i) {
      const auto old = static_cast<std::int32_t>(at(ran.memory, kOut, i));
      const auto value = static_cast<std::int32_t>(at(ran.memory, kB, i));
      EXPECT_EQ(static_cast<double>(old), ran.memory.initial({kA, i})) << one.how;
      EXPECT_EQ(at(ran.memory, kA, i), static_cast<double>(one.expected(old, value))) << one.how;
    }
  }
}

// Protects: an atomic comparison stores only if it finds the expected value, as locks need.
TEST(Updates, ComparisonsStoreWhereTheyFindWhatTheyExpect) {
  const std::string body =
      "%three = arith.constant 3 : i32\n%nine = arith.constant 9 : i32\n"
      "%old = tt.atomic_cas acq_rel, gpu, %a, %three, %nine : (!tt.ptr<i32>, i32, i32) -> i32\n"
      "%r = tt.splat %old : i32 -> tensor<16xi32>";
  for (const int found : {3, 4}) {
    const auto ran = run(storing(body, "i32", "i32"), given({{"a", std::to_string(found)}}));
    ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
    EXPECT_EQ(at(ran.memory, kOut, 0), found);
    EXPECT_EQ(at(ran.memory, kA, 0), found == 3 ? 9 : 4);
  }
}

// Protects: updates through a descriptor, whose type decides the sign of integers. Large integers
// are added exactly.
TEST(Updates, ThroughDescriptorsGoByTheirType) {
  const auto reduced = [](const std::string& how, const std::string& element) {
    return run(storing(fmt::format("%c16 = arith.constant 16 : i32\n%c0 = arith.constant 0 : i32\n"
                                   "%one = arith.constant 1 : i64\n"
                                   "%d = tt.make_tensor_descriptor %a, [%c16], [%one] : <i32>, "
                                   "<tensor<16x{0}>>\n"
                                   "tt.descriptor_reduce {1}, %d[%c0], %y : "
                                   "!tt.tensordesc<tensor<16x{0}>>, tensor<16xi32>\n"
                                   "%r = tt.load %ap : tensor<16x!tt.ptr<i32>>",
                                   element, how),
                       "i32", "i32"),
               given({{"a", "-1"}, {"b", "100000001"}}));
  };
  const std::vector<std::vector<std::string>> cases = {
      {"min", "si32", "-1"},        {"max", "si32", "100000001"}, {"min", "ui32", "100000001"},
      {"max", "ui32", "-1"},        {"and", "ui32", "100000001"}, {"or", "si32", "-1"},
      {"xor", "i32", "-100000002"}, {"add", "si32", "100000000"}};
  for (const auto& one : cases) {
    const auto ran = reduced(one[0], one[1]);
    ASSERT_TRUE(ran.result.has_value()) << one[0] << to_string(ran.result.error());
    EXPECT_EQ(at(ran.memory, kOut, 5), std::stod(one[2])) << one[0] << " " << one[1];
  }
}

// Protects: numbers used as addresses. Loaded numbers lead to separate memory; pointers converted
// to numbers lead back.
TEST(Updates, AddressesLeadToMemory) {
  const std::string from_table =
      "%p = tt.int_to_ptr %x : tensor<16xi64> -> tensor<16x!tt.ptr<f32>>\n"
      "%q = tt.addptr %p, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
      "%z = tt.load %q : tensor<16x!tt.ptr<f32>>\n"
      "tt.store %q, %z : tensor<16x!tt.ptr<f32>>\n%r = arith.addf %z, %z : tensor<16xf32>";
  const auto loaded = run(storing(from_table, "f32", "i64"), given({{"a", "0..2"}}));
  ASSERT_TRUE(loaded.result.has_value()) << to_string(loaded.result.error());
  ASSERT_EQ(loaded.memory.array_count(), 4U);
  EXPECT_EQ(loaded.memory.written(3).size(), 16U);
  EXPECT_NE(at(loaded.memory, kOut, 3), at(loaded.memory, kOut, 4));
  const std::string back =
      "%number = tt.ptr_to_int %ap : tensor<16x!tt.ptr<f32>> -> tensor<16xi64>\n"
      "%four = arith.constant dense<4> : tensor<16xi64>\n"
      "%m = arith.addi %number, %four : tensor<16xi64>\n"
      "%p = tt.int_to_ptr %m : tensor<16xi64> -> tensor<16x!tt.ptr<f32>>\n"
      "%r = tt.load %p : tensor<16x!tt.ptr<f32>>";
  const auto same = run(storing(back, "f32"));
  ASSERT_TRUE(same.result.has_value()) << to_string(same.result.error());
  EXPECT_EQ(at(same.memory, kOut, 3), at(same.memory, kA, 4));  // four bytes on
}

/// Stores the result of assembly on %x, of type `out`, `together` elements at a time.
Ran packed(const std::string& text, int together, const std::string& in, const std::string& out,
           const std::string& registers) {
  return run(storing(fmt::format("%r = tt.elementwise_inline_asm \"{}\" {{constraints = \"{}\", "
                                 "packed_element = {} : i32, pure = true}} %x : tensor<16x{}> -> "
                                 "tensor<16x{}>",
                                 text, registers, together, in, out),
                     out, in),
             given({{"a", "-100..100"}}));
}

// Protects: assembly on several elements of a register: bytes, halves, and conversions between
// them.
TEST(PackedAssembly, ComputesEachElement) {
  const auto bytes = packed("and.b32 $0, $1, 0x0F0F0F0F;", 4, "i8", "i8", "=r,r");
  const auto halves = packed("fma.rn.bf16x2 $0, $1, $1, $1;", 2, "bf16", "bf16", "=r,r");
  const auto wider = packed("{ prmt.b32 $0, $2, 0x4300, 0x1404; prmt.b32 $1, $2, 0x4300, 0x3424; }",
                            4, "i8", "i16", "=r,=r,r");
  const auto fields = packed("{ .reg .b32 t; bfe.u32 t, $1, 4, 4; bfi.b32 $0, t, $1, 28, 4; }", 1,
                             "i32", "i32", "=r,r");
  for (const Ran* ran : {&bytes, &halves, &wider, &fields}) {
    ASSERT_TRUE(ran->result.has_value()) << to_string(ran->result.error());
  }
  for (std::int64_t i = 0; i < 16; ++i) {
    const auto byte = static_cast<std::int32_t>(at(bytes.memory, kA, i));
    EXPECT_EQ(at(bytes.memory, kOut, i), byte & 15);
    const auto word =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(at(fields.memory, kA, i)));
    EXPECT_EQ(at(fields.memory, kOut, i),
              static_cast<std::int32_t>((word & 0x0fffffffU) | (word >> 4U & 15U) << 28U));
    EXPECT_EQ(at(wider.memory, kOut, i), 256 * at(wider.memory, kA, i));
    const double x = at(halves.memory, kA, i);  // x^2 + x has an error of less than 2^-8
    EXPECT_NEAR(at(halves.memory, kOut, i), x * x + x, std::abs(x * x + x) / 256);
  }
}

// Protects: the layout decides which elements share a register. Assembly whose results depend on
// that is refused. So are elements that do not fill registers, and unknown instructions.
TEST(PackedAssembly, RefusesWhatDependsOnNeighbours) {
  const auto refusal = [](const Ran& ran) {
    return ran.result ? std::string() : to_string(ran.result.error());
  };
  EXPECT_NE(refusal(packed("prmt.b32 $0, $1, $1, 0x2301;", 4, "i8", "i8", "=r,r"))
                .find("an element depends on its neighbours"),
            std::string::npos);
  EXPECT_NE(refusal(packed("add.b32 $0, $1, $1;", 4, "i8", "i8", "=r,r"))
                .find("an element depends on its neighbours"),
            std::string::npos);
  EXPECT_NE(refusal(packed("// nothing", 4, "i8", "i8", "=r,r")).find("meaning is not known"),
            std::string::npos);
  for (const int together : {1, 2, 1'000'000'000}) {
    EXPECT_NE(refusal(packed("and.b32 $0, $1, 1;", together, "i8", "i8", "=r,r"))
                  .find("assembly whose meaning is not known"),
              std::string::npos);
  }
}

// Protects: assembly that only orders launches, such as a dependent kernel's wait, changes no
// number.
TEST(PackedAssembly, OrderingIsNoNumber) {
  const auto waiting = [](const std::string& text) {
    return run(storing("%w = tt.elementwise_inline_asm \"" + text +
                           "\" {constraints = \"=r\", packed_element = 1 : i32, pure = false} -> "
                           "i32\n%r = arith.negf %x : tensor<16xf32>",
                       "f32"));
  };
  const auto ran = waiting("griddepcontrol.wait; // dummy $0");
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  EXPECT_EQ(at(ran.memory, kOut, 3), -at(ran.memory, kA, 3));
  EXPECT_FALSE(waiting("st.global.u32 [$0], 1;").result.has_value());
}

}  // namespace
}  // namespace twill::execute
