#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/copy.cuh"
#include "runtime/fragment.cuh"
#include "runtime/host.cuh"
#include "runtime/wgmma.cuh"

// Places of data in emitted kernels: descriptors of wgmma, swizzled addresses, fragments and tensor
// maps. The expected numbers are computed by hand, not as in the headers. Sources: the tables of
// the PTX ISA ("Matrix Descriptor Format", "Swizzling Modes", register fragments of wgmma and
// stmatrix), and the CUDA driver API. The headers compile for the host with the stand-ins of
// host_cuda.
namespace twill {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

// Bits 0-13: address / 16; 16-29: leading offset / 16; 32-45: stride / 16; 62-63: 1 for a swizzle
// of 128 bytes, 2 for 64, 3 for 32, 0 for none.
TEST(MatrixDescriptor, HasItsFieldsWhereThePtxIsaHasThem) {
  EXPECT_EQ(operand(at(0x400), 0, 1024, 128), 0x4000004000000040ULL);
  EXPECT_EQ(operand(at(0x1a200), 0x4000, 512, 64), 0x8000002004001a20ULL);
  EXPECT_EQ(operand(at(0x30100), 0x800, 256, 32), 0xc000001000803010ULL);
  EXPECT_EQ(operand(at(0x10), 128, 256, 0), 0x0000001000080001ULL);
  // The last 1024 bytes of shared memory, 227 KB.
  EXPECT_EQ(operand(at(0x38800), 0x8000, 1024, 128), 0x4000004008003880ULL);
}

// Protects the neighbouring fields: of an address only the 18 bits of shared memory count.
TEST(MatrixDescriptor, KeepsAnAddressFromTheOtherFields) {
  EXPECT_EQ(operand(at(0x7f00400), 0, 1024, 128), 0x4000004000000040ULL);
  EXPECT_EQ(operand(at(0x3fff0), 0x3fff0, 0x3fff0, 0), 0x00003fff3fff3fffULL);
}

TEST(MatrixDescriptor, AdvancesInUnitsOfSixteenBytes) {
  const std::uint64_t start = 0x4000004000000040ULL;
  EXPECT_EQ(advance(start, 0), start);
  EXPECT_EQ(advance(start, 32), 0x4000004000000042ULL);     // 16 further in k, k contiguous
  EXPECT_EQ(advance(start, 2048), 0x40000040000000c0ULL);   // 16 further in k, m contiguous
  EXPECT_EQ(advance(start, 16384), 0x4000004000000440ULL);  // the next panel of 128 rows
  EXPECT_EQ(advance(start, -1024), 0x4000004000000000ULL);
  EXPECT_EQ(advance(0x8000002004001a20ULL, -1024), 0x80000020040019e0ULL);
}

// A piece of 16 bytes moves by its row of 128 bytes mod 8: the address bits 4 to 6 by bits 7 to 9;
// with 64 bytes the bits 4 and 5 by 7 and 8, with 32 bit 4 by bit 7.
TEST(Swizzle, MovesPiecesOfSixteenBytesByTheirRow) {
  EXPECT_EQ(swizzled<128>(0, 48), 48);
  EXPECT_EQ(swizzled<128>(1, 0), 128 + 16);
  EXPECT_EQ(swizzled<128>(3, 16), 384 + 32);          // piece 1 ^ 3
  EXPECT_EQ(swizzled<128>(5, 96 + 7), 640 + 48 + 7);  // piece 6 ^ 5
  EXPECT_EQ(swizzled<128>(7, 127), 896 + 15);         // piece 7 ^ 7
  EXPECT_EQ(swizzled<128>(8, 16), 1024 + 16);         // a new period
  EXPECT_EQ(swizzled<64>(1, 0), 64);                  // two rows of 64 bytes move alike
  EXPECT_EQ(swizzled<64>(2, 0), 128 + 16);
  EXPECT_EQ(swizzled<64>(5, 32 + 2), 320 + 2);  // piece 2 ^ 2
  EXPECT_EQ(swizzled<64>(7, 0), 448 + 48);
  EXPECT_EQ(swizzled<64>(8, 16), 512 + 16);
  EXPECT_EQ(swizzled<32>(3, 0), 96);  // four rows of 32 bytes
  EXPECT_EQ(swizzled<32>(4, 0), 128 + 16);
  EXPECT_EQ(swizzled<32>(7, 16 + 1), 224 + 1);
  EXPECT_EQ(swizzled<32>(8, 16), 256 + 16);
}

template <int Swizzle>
bool is_a_permutation() {
  std::bitset<std::size_t{8} * Swizzle> taken;
  for (int row = 0; row < 8; ++row) {
    for (int byte = 0; byte < Swizzle; ++byte) {
      const auto place = static_cast<std::size_t>(swizzled<Swizzle>(row, byte));
      if (place >= taken.size()) return false;
      taken.set(place);
    }
  }
  return taken.all();
}

TEST(Swizzle, PutsNothingOnTopOfAnother) {
  EXPECT_TRUE(is_a_permutation<32>());
  EXPECT_TRUE(is_a_permutation<64>());
  EXPECT_TRUE(is_a_permutation<128>());
}

std::string place(int thread, int i) {
  return std::to_string(row_of(thread, i)) + ", " + std::to_string(column_of(thread, i));
}

// The figure of wgmma's D fragment: a warp has 16 rows, a quad a row, a lane two columns of 8.
TEST(Fragment, LiesAsWgmmaLeavesIt) {
  EXPECT_EQ(place(0, 0), "0, 0");
  EXPECT_EQ(place(0, 1), "0, 1");
  EXPECT_EQ(place(0, 2), "8, 0");
  EXPECT_EQ(place(0, 4), "0, 8");
  EXPECT_EQ(place(3, 0), "0, 6");
  EXPECT_EQ(place(5, 3), "9, 3");
  EXPECT_EQ(place(31, 0), "7, 6");
  EXPECT_EQ(place(32, 0), "16, 0");
  EXPECT_EQ(place(127, 127), "63, 255");  // the last value of m64n256
}

// stmatrix takes the rows of four 8 x 8 matrices from lanes 0 to 7, 8 to 15, 16 to 23 and 24 to 31.
// Here these are the upper and the lower eight rows of columns 0 to 7, then of columns 8 to 15.
TEST(Fragment, GivesStmatrixItsRows) {
  constexpr std::uint32_t kPanel = 128 * 128;
  EXPECT_EQ(block_row_offset(0, 0, kPanel, 0), 0U);
  EXPECT_EQ(block_row_offset(1, 0, kPanel, 0), 128U + 16U);
  EXPECT_EQ(block_row_offset(8, 0, kPanel, 0), 1024U);
  EXPECT_EQ(block_row_offset(16, 0, kPanel, 0), 16U);                        // piece 1 of row 0
  EXPECT_EQ(block_row_offset(25, 0, kPanel, 0), 9 * 128U);                   // piece 1 ^ 1 of row 9
  EXPECT_EQ(block_row_offset(32, 0, kPanel, 0), 2048U);                      // the next warp
  EXPECT_EQ(block_row_offset(127, 64, kPanel, 48), 127 * 128U);              // row 127, piece 7 ^ 7
  EXPECT_EQ(block_row_offset(3, 64, kPanel, 64), 16384U + 67 * 128U + 48U);  // the second panel
  EXPECT_EQ(block_row_offset(128 + 3, 64, kPanel, 64), 16384U + 67 * 128U + 48U);  // any warpgroup
}

// Panels of 32 columns of 32 bits: piece c / 4 of row r is at piece c / 4 ^ r % 8.
TEST(Fragment, PlacesWordsAsTmaReadsThem) {
  constexpr std::uint32_t kPanel = 64 * 128;
  EXPECT_EQ(word_offset(0, kPanel, 0), 0U);
  EXPECT_EQ(word_offset(0, kPanel, 2), 8U);
  EXPECT_EQ(word_offset(1, kPanel, 0), 128U + 16U);
  EXPECT_EQ(word_offset(3, kPanel, 6), 3 * 128U + 32U + 8U);  // piece 1 ^ 3
  EXPECT_EQ(word_offset(8, kPanel, 30), 8 * 128U + 7 * 16U + 8U);
  EXPECT_EQ(word_offset(63, kPanel, 40), 8192U + 63 * 128U + 5 * 16U);  // the second panel, 2 ^ 7
}

using Sizes = std::vector<std::uint64_t>;
using Box = std::vector<std::uint32_t>;

const char* encode(CUtensorMapDataType type, const Sizes& sizes, const Sizes& strides,
                   const Box& box, int swizzle, std::uintptr_t base = 0x10000) {
  EXPECT_EQ(check_device(), nullptr);  // makes a context, which the driver needs
  CUtensorMap map;
  return encode_tensor_map(&map, type, static_cast<int>(sizes.size()),
                           reinterpret_cast<void*>(base), sizes.data(), strides.data(), box.data(),
                           swizzle);
}

TEST(TensorMap, TellsTheDriverWhatItIsTold) {
  host_cuda::encoded.clear();
  // 3 matrices of 1000 x 320 in fp16, rows 336 apart: boxes of 128 rows of 64.
  EXPECT_EQ(encode(map_type<__half>(), {320, 1000, 3}, {672, 672000}, {64, 128, 1}, 128), nullptr);
  ASSERT_EQ(host_cuda::encoded.size(), 1U);
  const host_cuda::Encoded& map = host_cuda::encoded[0];
  EXPECT_EQ(map.type, 6);
  EXPECT_EQ(map.base, at(0x10000));
  EXPECT_EQ(map.sizes, (Sizes{320, 1000, 3}));
  EXPECT_EQ(map.strides, (Sizes{672, 672000}));
  EXPECT_EQ(map.box, (Box{64, 128, 1}));
  EXPECT_EQ(map.steps, (Box{1, 1, 1}));
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(encode(map_type<__nv_bfloat16>(), {64, 8}, {128}, {32, 8}, 64), nullptr);
  EXPECT_EQ(encode(map_type<float>(), {64}, {}, {8}, 32), nullptr);
  EXPECT_EQ(encode(map_type<float>(), {64}, {}, {256}, 0), nullptr);
  ASSERT_EQ(host_cuda::encoded.size(), 4U);
  EXPECT_EQ(host_cuda::encoded[1].type, 9);
  EXPECT_EQ(host_cuda::encoded[1].swizzle, 2);
  EXPECT_EQ(host_cuda::encoded[2].type, 7);
  EXPECT_EQ(host_cuda::encoded[2].swizzle, 1);
  EXPECT_EQ(host_cuda::encoded[3].swizzle, 0);
}

std::string said(const char* wrong) { return wrong == nullptr ? "nothing" : wrong; }

// Protects: a value that the driver would only call invalid is refused with the reason.
TEST(TensorMap, RefusesWhatTheCopyEngineCannotDo) {
  const CUtensorMapDataType half = map_type<__half>();
  host_cuda::encoded.clear();
  EXPECT_EQ(said(encode(half, {64, 8}, {128}, {64, 8}, 128, 0x10008)),
            "tensor map: the tensor's address is not a multiple of 16 bytes");
  EXPECT_EQ(said(encode(half, {64, 8}, {136}, {64, 8}, 128)),
            "tensor map: a stride of the tensor is not a multiple of 16 bytes");
  EXPECT_EQ(said(encode(half, {64, 8}, {1ULL << 40}, {64, 8}, 128)),
            "tensor map: a stride of the tensor exceeds 2^40");
  EXPECT_EQ(said(encode(half, {(1ULL << 32) + 1}, {}, {64}, 128)),
            "tensor map: a dimension of the tensor exceeds 2^32");
  EXPECT_EQ(said(encode(half, {64, 512}, {128}, {64, 257}, 128)),
            "tensor map: a box has 1 to 256 elements a dimension");
  EXPECT_EQ(said(encode(half, {64, 8}, {128}, {72, 8}, 128)),
            "tensor map: a row of the box is longer than the swizzle");
  EXPECT_EQ(said(encode(half, {64, 8}, {128}, {64, 8}, 64)),
            "tensor map: a row of the box is longer than the swizzle");
  EXPECT_EQ(said(encode(half, {64, 8}, {128}, {4, 8}, 0)),
            "tensor map: a row of the box is not a multiple of 16 bytes");
  EXPECT_EQ(said(encode(half, {64, 0}, {128}, {64, 8}, 128)),
            "tensor map: a dimension of the tensor has size 0");
  EXPECT_TRUE(host_cuda::encoded.empty());
}

/// The map that `describe` makes of a tensor without elements.
host_cuda::Encoded empty_map(const Sizes& sizes, const Box& box, MapUse use,
                             CUtensorMapFloatOOBfill outside) {
  host_cuda::encoded.clear();
  EXPECT_EQ(check_device(), nullptr);
  CUtensorMap map;
  const Sizes strides(4, 6);  // no multiple of 16, which is not promised for empty tensors
  EXPECT_EQ(describe(&map, map_type<__half>(), static_cast<int>(sizes.size()), nullptr,
                     sizes.data(), strides.data(), box.data(), 128, use, outside),
            nullptr);
  EXPECT_EQ(host_cuda::encoded.size(), 1U);
  return host_cuda::encoded.at(0);
}

// Protects: a tensor without elements, whichever dimension is empty, has a map that the driver
// accepts. Its box has the bytes that the kernel counts; its one element reads as elements outside
// do, and writes reach no data that is read.
TEST(TensorMap, OfATensorWithoutElementsReadsAsOutsideAndWritesNothing) {
  constexpr auto kZeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  constexpr auto kNans = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const void* sink = nullptr;
  for (const Sizes& sizes : {Sizes{0}, Sizes{0, 8}, Sizes{64, 0}, Sizes{0, 0}, Sizes{64, 8, 0},
                             Sizes{64, 0, 3}, Sizes{0, 8, 3}, Sizes{64, 8, 0, 3, 2}}) {
    const Box box(sizes.size(), 8);
    const auto loads = empty_map(sizes, box, MapUse::loads, kZeros);
    EXPECT_EQ(loads.sizes, Sizes(sizes.size(), 1));
    EXPECT_EQ(loads.strides, Sizes(sizes.size() - 1, 16));
    EXPECT_EQ(loads.box, box);
    EXPECT_FALSE(loads.nan_outside);
    const auto nans = empty_map(sizes, box, MapUse::loads, kNans);
    EXPECT_TRUE(nans.nan_outside);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(static_cast<const std::uint16_t*>(loads.base)[i], 0);
      const std::uint16_t nan = static_cast<const std::uint16_t*>(nans.base)[i];
      EXPECT_GT(nan & 0x7fff, 0x7f80);  // of bf16 and of f16
    }
    sink = empty_map(sizes, box, MapUse::writes, kZeros).base;
    for (const void* read : {loads.base, nans.base}) {
      EXPECT_GE(std::abs(static_cast<const char*>(read) - static_cast<const char*>(sink)), 16);
    }
    for (const host_cuda::Encoded& map : {loads, nans}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.base) % 16, 0U);
    }
  }
}

// Protects: launches from a thread that has made no CUDA call, and threads that have a context of
// their own, which stays theirs.
TEST(Launch, GivesAThreadAContextAndLeavesTheOneItHas) {
  const Sizes sizes{64, 8}, strides{128};
  const Box box{64, 8};
  std::thread([&] {
    ASSERT_EQ(host_cuda::context, nullptr);
    EXPECT_EQ(check_device(), nullptr);
    CUtensorMap map;
    EXPECT_EQ(encode_tensor_map(&map, map_type<__half>(), 2, const_cast<void*>(at(0x10000)),
                                sizes.data(), strides.data(), box.data(), 128),
              nullptr);
    const auto own = reinterpret_cast<CUcontext>(&map);
    host_cuda::context = own;
    EXPECT_EQ(check_device(), nullptr);
    EXPECT_EQ(host_cuda::context, own);
  }).join();
}

// Protects: the largest allowed values are accepted.
TEST(TensorMap, TakesTheLargest) {
  EXPECT_EQ(encode(map_type<__half>(), {1ULL << 32, 2}, {(1ULL << 40) - 16}, {64, 256}, 128),
            nullptr);
}

}  // namespace
}  // namespace twill
