#include "twill/run/compare.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "run/emitted.h"
#include "twill/execute/values.h"
#include "twill/run/precision.h"

namespace twill::run {
namespace {

/// A call whose kernel left the same memory as the text.
class Compared : public ::testing::Test {
 protected:
  void SetUp() override { set_up("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir"); }

  void set_up(const std::string& path) {
    made_ = testing::emitted(path);
    ASSERT_NE(made_, nullptr);
    const Kernel kernel = made_->kernel();
    auto chosen = choose(kernel, {}, 2, 1);
    ASSERT_TRUE(chosen.has_value() && chosen->has_value());
    call_ = case_of(kernel, **std::move(chosen)).value();
    tolerances_ = tolerances_of(kernel);
    for (const Buffer& buffer : call_.buffers) {
      std::string bytes = buffer.bytes;
      const auto array = static_cast<std::int64_t>(buffer.array);
      for (const auto& [index, value] : call_.chosen.reference->memory.written(buffer.array)) {
        put(buffer, bytes, index, value, call_.chosen.reference->memory.element(array));
      }
      called_.memory.push_back(std::move(bytes));
    }
  }

  static void put(const Buffer& buffer, std::string& bytes, std::int64_t index, double value,
                  ir::Type element) {
    const std::uint64_t bits = execute::bits_of(element, value);
    for (std::size_t b = 0; b < buffer.element_bytes; ++b) {
      bytes[static_cast<std::size_t>(index - buffer.first) * buffer.element_bytes + b] =
          static_cast<char>(bits >> (8 * b) & 0xffU);
    }
  }

  /// Adds `value` to an element of the kernel's last array.
  void disturb(std::int64_t index, double value) {
    const Buffer& buffer = call_.buffers.back();
    const execute::Memory& memory = call_.chosen.reference->memory;
    put(buffer, called_.memory.back(), index,
        memory.read({static_cast<std::int64_t>(buffer.array), index}) + value,
        memory.element(static_cast<std::int64_t>(buffer.array)));
  }

  Output output() const { return compare(call_, called_, tolerances_).back(); }

  std::unique_ptr<testing::Emitted> made_;
  Case call_;
  Called called_;
  Tolerances tolerances_;
};

// Protects: for a kernel that only multiplies and adds, a single bit counts.
TEST_F(Compared, OneBitOfAProductCounts) {
  EXPECT_TRUE(tolerances_.exact());
  EXPECT_EQ(compare(call_, called_, tolerances_).size(), 1U);  // C alone is written
  EXPECT_TRUE(agrees(output()));
  EXPECT_EQ(output().rounded, 0);
  EXPECT_GT(output().written, 1000);
  const std::size_t middle = called_.memory.back().size() / 4 * 2;
  called_.memory.back()[middle] = static_cast<char>(called_.memory.back()[middle] ^ 1);
  EXPECT_FALSE(agrees(output()));
  EXPECT_EQ(output().differing + output().stray, 1);
}

// Protects: elements that the text does not write must keep their values, inputs too.
TEST_F(Compared, WritesBesideTheOutputCount) {
  called_.memory.front()[100] = static_cast<char>(called_.memory.front()[100] ^ 1);
  const std::vector<Output> outputs = compare(call_, called_, tolerances_);
  EXPECT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs.front().stray, 1);
  EXPECT_FALSE(agrees(outputs.front()));
}

// Protects: elements that the text writes and the kernel does not, whose memory is NaN there, are
// differences.
TEST_F(Compared, WhatIsNotWrittenCounts) {
  called_.memory.back() = call_.buffers.back().bytes;
  EXPECT_EQ(output().differing, output().written);
}

class Rounded : public Compared {
 protected:
  void SetUp() override { set_up("kernels/gemm_around/sm_90/normalized.pre.ttgir"); }
};

// Protects: numbers that are f32 all the way are compared as f32, although halves are multiplied
// elsewhere. Numbers that were halves on their way may be neighbours of the text's halves; integers
// are exact.
TEST(Precision, GoesByWhatBecomesOfTheNumbers) {
  const std::string path = std::string(TWILL_SOURCE_DIR) + "/kernels/fa_fwd/sm_90/d128.pre.ttgir";
  const ir::Program text =
      frontend::read_ttgir(driver::read_input(path).value().text, path).value();
  const emit::Description none;
  const auto found = precisions({text, ir::functions(text).at(0), text, ir::OpId(0), none});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.begin()->second, 10);             // %arg15, the sums of products of halves
  EXPECT_EQ(std::next(found.begin())->second, 23);  // the logarithms of the sums
}

// Protects: rounding differences pass where the text's order of sums is not kept. No larger
// difference passes: neither in one element, nor small ones in all.
TEST_F(Rounded, OnlyRoundingsPass) {
  ASSERT_FALSE(tolerances_.exact());
  EXPECT_EQ(tolerances_.of("arg10").type, "f32");
  const std::size_t array = 2;  // of %arg10, the third that is a pointer or a descriptor
  const execute::Memory& memory = call_.chosen.reference->memory;
  const auto written = memory.written(array);
  ASSERT_GT(written.size(), 100U);
  const Buffer& buffer = call_.buffers[array];
  const auto with = [&](double factor, std::size_t count) {
    Called changed = called_;
    for (const auto& [index, value] : written) {
      if (count-- == 0) break;
      put(buffer, changed.memory[array], index, value * factor, memory.element(array));
    }
    return compare(call_, changed, tolerances_).front();
  };
  EXPECT_EQ(with(1, written.size()).rounded, 0);
  EXPECT_TRUE(agrees(with(1 + 0x1p-22, written.size())));
  EXPECT_GT(with(1 + 0x1p-22, written.size()).rounded, 100);
  EXPECT_TRUE(with(1 + 0x1p-19, written.size()).scattered);
  EXPECT_FALSE(agrees(with(1 + 0x1p-19, written.size())));
  EXPECT_FALSE(agrees(with(1 + 0x1p-14, 1)));  // equal for a half, a large difference for an f32
  EXPECT_GT(with(2, written.size()).differing, 0);
}

// Protects: an infinity is no rounding of a number, nor of the other infinity. Where the text
// writes nothing but zeros or infinities, there is no size of the array that could tell.
TEST_F(Rounded, AnInfinityIsNoRounding) {
  const ir::Type type = call_.chosen.reference->memory.element(2);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto compared = [&](double expected, double found) {
    execute::Memory text(1), kernel(1);
    for (const auto& [memory, value] : {std::pair(&text, expected), std::pair(&kernel, found)}) {
      const auto array = memory->add_array("arg10", type);
      memory->write({array.value(), 0}, value);
    }
    return compare(text, kernel, tolerances_).at(0);
  };
  EXPECT_TRUE(agrees(compared(infinity, infinity)));
  for (const auto& [expected, found] :
       {std::pair(0.0, infinity), std::pair(infinity, 0.0), std::pair(infinity, -infinity)}) {
    EXPECT_EQ(compared(expected, found).differing, 1) << expected << " " << found;
    EXPECT_FALSE(agrees(compared(expected, found)));
  }
}

}  // namespace
}  // namespace twill::run
