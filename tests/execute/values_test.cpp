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

/// The scalar type of that name, of a Program that lives as long as the tests.
ir::Type type(const std::string& name) {
  static std::vector<ir::Program> programs;
  programs.push_back(
      frontend::read_ttgir("tt.func public @f(%a: " + name + ") {\ntt.return\n}\n", "t.ttgir")
          .value());
  const ir::Program& program = programs.back();
  return ir::type_of(program, ir::function_arguments(program, ir::functions(program)[0])[0]);
}

/// File as NumPy writes it: `header` is a dictionary of Python.
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

// Protects: the bits with which numbers go to an emitted kernel and come back, for every number of
// 16 bits and fewer, against what the rounding says those types hold.
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

// Protects: what `--arg` takes besides files.
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

// Protects: arrays begin with what the launch says, element by element.
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

// Protects: .npy files and raw ones, and what is wrong with some.
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

// Protects: an element that a file does not have is an error, and not a zero.
TEST(Files, AreNotReadBeyondTheirEnd) {
  Launch launch;
  launch.arrays["a"] = values_of_bytes(std::string(60, '\0'), "a.bin");
  const auto ran = testing::run(storing("%r = arith.addf %x, %y : tensor<16xf32>", "f32"), launch);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_NE(ran.result.error().message.find("has the 15 elements of %a"), std::string::npos);
  EXPECT_NE(ran.result.error().message.find("reads number 15"), std::string::npos);
}

// Protects: values that do not fit their argument are refused by its name.
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
}

// Protects: NaN is what NaN should be, and only that.
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
