#include "twill/execute/values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "execute/running.h"
#include "twill/execute/compare.h"
#include "twill/execute/rounding.h"

namespace twill::execute {
namespace {

using testing::at;
using testing::storing;

/// The scalar type with that name, from a Program that outlives the tests.
ir::Type type(const std::string& name) {
  static std::vector<ir::Program> programs;
  programs.push_back(
      frontend::read_ttgir("tt.func public @f(%a: " + name + ") {\ntt.return\n}\n", "t.ttgir")
          .value());
  const ir::Program& program = programs.back();
  return ir::type_of(program, ir::function_arguments(program, ir::functions(program)[0])[0]);
}

/// A file as NumPy writes it: `header` is a Python dictionary.
std::string npy(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += '\x01';
  text += '\0';
  text += static_cast<char>(header.size());
  text += '\0';
  return text + header + data;
}

std::string bytes_of_floats(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) {
    char raw[4];
    std::memcpy(raw, &number, 4);
    bytes.append(raw, 4);
  }
  return bytes;
}

// Protects: arrays of 64-bit integers, such as PyTorch's indices, are exact, also above 32 bits.
// Signed and unsigned elements of descriptors are those of their tiles.
TEST(Integers, OfEveryWidthAndSignAreTaken) {
  Launch launch;
  launch.arrays["a"] = read_values("5000000000..5000000004").value();
  const auto ran =
      testing::run(storing("%r = arith.addi %x, %x : tensor<16xi64>", "i64", "i64"), launch);
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (const auto& [index, value] : ran.memory.written(2)) {
    EXPECT_GE(value, 1e10) << index;
    EXPECT_LT(value, 1e10 + 8) << index;
  }
  for (const std::string element : {"si8", "ui8", "i8", "si32", "ui16"}) {
    const std::string plain = "i" + element.substr(element.find_first_of("0123456789"));
    const auto copied = testing::run(
        "tt.func public @f(%a: !tt.ptr<" + plain + ">, %o: !tt.tensordesc<tensor<16x32x" + element +
        ">>, %o.0: i32, %o.1: i32, %o.2: i64, %o.3: i64, %n: i32, %s: i64) {\n" +
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i64\n" +
        "%d = tt.make_tensor_descriptor %a, [%n, %n], [%s, %c1] : !tt.ptr<" + plain +
        ">, !tt.tensordesc<tensor<16x32x" + element + ">>\n" +
        "%t = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<16x32x" + element +
        ">> -> tensor<16x32x" + plain + ">\n" +
        "tt.descriptor_store %o[%c0, %c0], %t : " + "!tt.tensordesc<tensor<16x32x" + element +
        ">>, tensor<16x32x" + plain + ">\ntt.return\n}\n");
    EXPECT_TRUE(copied.result.has_value()) << element << to_string(copied.result.error());
    EXPECT_EQ(copied.memory.written(1).size(), 512U) << element;
  }
}

// Protects: a bitcast keeps the bits of elements of every width. Kernels use bitcasts to dequantize
// by shifts, and for 8-bit formats.
TEST(Bitcasts, KeepTheBits) {
  const auto shifted = testing::run(
      storing("%c = arith.constant dense<16256> : tensor<16xi16>\n"  // 0x3f80: 1 as bf16
              "%z = arith.constant dense<0> : tensor<16xi16>\n%i16 = arith.trunci %i : "
              "tensor<16xi32> to tensor<16xi16>\n"
              "%one = arith.addi %c, %i16 : tensor<16xi16>\n"
              "%r = tt.bitcast %one : tensor<16xi16> -> tensor<16xbf16>",
              "bf16"));
  ASSERT_TRUE(shifted.result.has_value()) << to_string(shifted.result.error());
  for (const auto& [index, value] : shifted.memory.written(2)) {
    EXPECT_EQ(value, 1 + static_cast<double>(index) / 128);
  }
  const auto there =
      testing::run(storing("%h = arith.truncf %x : tensor<16xf32> to tensor<16xf8E5M2>\n"
                           "%byte = tt.bitcast %h : tensor<16xf8E5M2> -> tensor<16xi8>\n"
                           "%r = tt.bitcast %byte : tensor<16xi8> -> tensor<16xf8E5M2>",
                           "f8E5M2"));
  const auto kept =
      testing::run(storing("%r = arith.truncf %x : tensor<16xf32> to tensor<16xf8E5M2>", "f8E5M2"));
  ASSERT_TRUE(there.result.has_value()) << to_string(there.result.error());
  EXPECT_EQ(there.memory.written(2), kept.memory.written(2));
}

// Protects: products of 8-bit integers add up exactly, in 32 bits.
TEST(Products, OfIntegersAreExact) {
  const auto ran = testing::run(storing(
      "%e = tt.expand_dims %x {axis = 1 : i32} : tensor<16xi8> -> tensor<16x1xi8>\n"
      "%left = tt.broadcast %e : tensor<16x1xi8> -> tensor<16x32xi8>\n"
      "%right = arith.constant dense<-3> : tensor<32x16xi8>\n"
      "%z = arith.constant dense<7> : tensor<16x16xi32>\n"
      "%d = tt.dot %left, %right, %z : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>\n"
      "%r = \"tt.reduce\"(%d) <{axis = 1 : i32}> ({\n^bb0(%p: i32, %q: i32):\n"
      "%m = arith.maxsi %p, %q : i32\ntt.reduce.return %m : i32\n}) : "
      "(tensor<16x16xi32>) -> tensor<16xi32>",
      "i32", "i8"));
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (const auto& [index, value] : ran.memory.written(2)) {
    EXPECT_EQ(value, 7 - 96 * ran.memory.initial({0, index})) << index;
  }
}

// Protects: the bits by which numbers travel to an emitted kernel and back, for every number of at
// most 16 bits. Expected values come from the rounding to those types.
TEST(Bits, GoThereAndBack) {
  for (const std::string name : {"f16", "bf16", "f8E4M3FN", "f8E5M2"}) {
    const ir::Type element = type(name);
    const std::uint64_t count = std::uint64_t{1} << element->bits;
    for (std::uint64_t bits = 0; bits < count; ++bits) {
      const double value = value_of(element, bits);
      if (std::isnan(value)) continue;
      EXPECT_EQ(bits_of(element, value), bits) << name << " " << value;
      EXPECT_EQ(static_cast<double>(round_to(*format_of(element), value)), value) << name;
    }
  }
  EXPECT_EQ(bits_of(type("f16"), 1.0), 0x3c00U);
  EXPECT_EQ(bits_of(type("f16"), -65504), 0xfbffU);
  EXPECT_EQ(bits_of(type("f16"), 0x1p-24), 1U);
  EXPECT_EQ(bits_of(type("bf16"), 1.0), 0x3f80U);
  EXPECT_EQ(bits_of(type("f8E4M3FN"), 448), 0x7eU);
  EXPECT_EQ(bits_of(type("f32"), 0.1), 0x3dcccccdU);
  EXPECT_EQ(bits_of(type("i32"), -1) & 0xffffffffU, 0xffffffffU);
  EXPECT_EQ(value_of(type("i8"), 0xff), -1);
  for (const std::string name : {"f32", "f16", "bf16", "f8E5M2"}) {
    EXPECT_TRUE(std::isnan(value_of(type(name), bits_of(type(name), std::nan("")))));
    EXPECT_TRUE(std::isinf(
        value_of(type(name), bits_of(type(name), std::numeric_limits<double>::infinity()))));
  }
}

// Protects: arguments of `--arg` other than files.
TEST(Ranges, AreRead) {
  EXPECT_EQ(read_values("arange").value().kind, Values::Kind::counted);
  EXPECT_EQ(read_values("arange(3,-2)").value().second, -2);
  EXPECT_EQ(read_values("0..64").value().kind, Values::Kind::integers);
  EXPECT_EQ(read_values("uniform(-1,2.5)").value().second, 2.5);
  EXPECT_EQ(read_values("-0.5").value().first, -0.5);
  EXPECT_TRUE(std::isnan(read_values("nan").value().first));
  for (const std::string wrong :
       {"", "5..5", "0.5..2", "uniform(2,1)", "uniform(1)", "range", "1,2"}) {
    EXPECT_FALSE(read_values(wrong).has_value()) << wrong;
  }
}

// Protects: arrays initially hold the contents that the launch states, element by element.
TEST(Arrays, HoldWhatIsGiven) {
  Launch launch;
  launch.arrays["a"] = read_values("arange(1,2)").value();
  launch.arrays["b"] = read_values("3..5").value();
  const auto ran = testing::run(storing("%r = arith.addf %x, %y : tensor<16xf32>", "f32"), launch);
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (std::int64_t i = 0; i < 16; ++i) {
    const double b = at(ran.memory, 1, i);
    EXPECT_TRUE(b == 3 || b == 4) << b;
    EXPECT_EQ(at(ran.memory, 2, i), 1 + 2 * static_cast<double>(i) + b);
  }
}

// Protects: .npy files and raw files are read, and damaged files are refused with the reason.
TEST(Files, AreRead) {
  const std::string data = bytes_of_floats({1, 2.5, -3});
  const auto read = values_of_npy(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }", data), "a.npy");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(read->shape, (Shape{3, 1}));
  EXPECT_EQ(*read->elements, (std::vector<double>{1, 2.5, -3}));
  EXPECT_EQ(*of_type(values_of_bytes(data, "a.bin"), type("f32")).value().elements,
            *read->elements);
  // bf16 is saved as opaque bytes.
  const auto opaque = values_of_npy(npy("{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }",
                                        std::string("\x80\x3f\x00\xc0", 4)),
                                    "b.npy");
  ASSERT_TRUE(opaque.has_value());
  EXPECT_EQ(*of_type(*opaque, type("bf16")).value().elements, (std::vector<double>{1, -2}));

  const auto fails = [](const Result<Values>& values, const std::string& why) {
    ASSERT_FALSE(values.has_value()) << why;
    EXPECT_NE(values.error().message.find(why), std::string::npos) << values.error().message;
  };
  fails(of_type(*read, type("i32")), "has numbers, and the array's elements are of type i32");
  fails(of_type(*opaque, type("f32")), "is not made of elements of type f32");
  fails(of_type(values_of_bytes("123", "c.bin"), type("f32")), "is not made of elements");
  fails(values_of_npy("123", "c.npy"), "is no .npy file");
  fails(values_of_npy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }", data), "c"),
        "little-endian");
  fails(values_of_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", data), "c"),
        "more or fewer elements");
}

// Protects: reading an element that a file lacks is an error, not a zero.
TEST(Files, AreNotReadBeyondTheirEnd) {
  Launch launch;
  launch.arrays["a"] = values_of_bytes(std::string(60, '\0'), "a.bin");
  const auto ran = testing::run(storing("%r = arith.addf %x, %y : tensor<16xf32>", "f32"), launch);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_NE(ran.result.error().message.find("has the 15 elements of %a"), std::string::npos);
  EXPECT_NE(ran.result.error().message.find("reads number 15"), std::string::npos);
}

// Protects: values that do not fit their argument are refused with its name.
TEST(Arguments, MustFit) {
  const std::string text = storing("%r = arith.addf %x, %y : tensor<16xf32>", "f32");
  Launch launch;
  launch.arrays["s"] = read_values("arange").value();
  EXPECT_NE(testing::run(text, launch).result.error().message.find("%s, which is one number"),
            std::string::npos);
  launch.arrays.clear();
  launch.arrays["z"] = read_values("arange").value();
  EXPECT_NE(testing::run(text, launch).result.error().message.find("has no argument %z"),
            std::string::npos);
  for (const double number : {3e10, -2147483649.0, 0.5}) {
    Launch beyond;
    beyond.arguments["n"] = number;
    const auto ran = testing::run(text, beyond);
    ASSERT_FALSE(ran.result.has_value()) << number;
    EXPECT_NE(ran.result.error().message.find("%n of type i32"), std::string::npos)
        << ran.result.error().message;
  }
}

// Protects: NaN equals NaN, and no number.
TEST(Comparison, NanEqualsNan) {
  const double nan = std::nan("");
  const Difference same = difference({{0, nan}, {1, 2}}, {{0, -nan}, {1, 2}});
  EXPECT_EQ(same.differing, 0);
  EXPECT_EQ(same.written, 2);
  const Difference other = difference({{0, nan}, {1, 2}, {3, 0.0}}, {{0, 1}, {2, 5}, {3, -0.0}});
  EXPECT_EQ(other.written, 4);
  EXPECT_EQ(other.differing, 4);
  EXPECT_EQ(other.missing, 3);
  EXPECT_EQ(other.first, 0);
}

}  // namespace
}  // namespace twill::execute
