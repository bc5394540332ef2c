#include "twill/driver/emit_cuda.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/driver/judge_kernel.h"
#include "twill/gate/toolchain.h"

// Protects the loop between a printed kernel and ptxas: the overlaps expected in machine code, the
// report of a missing overlap, and the remedies.
namespace twill::driver {
namespace {

EmittedCuda attention() {
  Request request;
  request.input =
      read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/fa_fwd/sm_90/d128.pre.ttgir").value();
  auto emitted = emit_cuda(request);
  EXPECT_TRUE(emitted.has_value());
  return *std::move(emitted);
}

// 64 rows a role: 8 steps of k in each of two products, and 64 x 128 exponentials of 128 threads.
TEST(ExpectedCode, CountsTheProductsAndExponentialsOfAnIteration) {
  const EmittedCuda emitted = attention();
  ASSERT_EQ(emitted.loops.size(), 2U);
  for (const emit::ExpectedLoop& loop : emitted.loops) {
    int products = loop.code.products_after;
    int exponentials = loop.code.exponentials_after;
    for (const gate::Wait& wait : loop.code.waits) {
      products += wait.products;
      exponentials += wait.exponentials;
      EXPECT_LE(wait.pending, 1);
    }
    EXPECT_EQ(loop.code.waits.size(), 2U);
    EXPECT_EQ(products, 16);
    EXPECT_EQ(exponentials, 64);
  }
}

// The same kernel with stricter waits: its results are equal, and it overlaps less.
TEST(ExpectedCode, IsMissedWhereTheCodeWaitsForMore) {
  const gate::Toolchain toolchain = gate::find_toolchain(gate::places_of_environment());
  if (!toolchain.nvcc || !toolchain.nvdisasm) GTEST_SKIP() << "no nvcc, or no nvdisasm";
  EmittedCuda emitted = attention();
  const auto good = judge_kernel(emitted, toolchain);
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good->compiled);
  EXPECT_TRUE(good->refusals.empty());
  std::string& source = emitted.files.at("kernel.cu");
  const std::string loose = "twill::wgmma_wait<1>()";
  ASSERT_NE(source.find(loose), std::string::npos);
  for (std::size_t at = 0; (at = source.find(loose)) != std::string::npos;) {
    source.replace(at, loose.size(), "twill::wgmma_wait<0>()");
  }
  const auto bad = judge_kernel(emitted, toolchain);
  ASSERT_TRUE(bad.has_value());
  EXPECT_TRUE(bad->overlaps_lost);
  ASSERT_FALSE(bad->refusals.empty());
  EXPECT_NE(bad->refusals.front().find("does not overlap as planned"), std::string::npos);
  EXPECT_TRUE(bad->cubin.empty());
}

// Values after the loop may have two readers each, as in a sort. Each value must be visited once,
// or the time is exponential.
TEST(EmitCuda, ReadsEachValueBehindTheLoopOnce) {
  Request request;
  request.input =
      read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/gemm/sm_90/tma_128x128x64.pre.ttgir")
          .value();
  std::string& text = request.input.text;
  const std::string tile = "tensor<128x128xf32, #mma>", before = "%5 = arith.truncf %4";
  std::string last = "%4", sums;
  for (int i = 0; i < 60; ++i) {
    const std::string sum = "%sum" + std::to_string(i);
    sums += sum + " = arith.addf " + last + ", " + last + " : " + tile + "\n    ";
    last = sum;
  }
  text.replace(text.find(before), before.size(), sums + "%5 = arith.truncf " + last);
  const auto emitted = emit_cuda(request);
  EXPECT_TRUE(emitted.has_value());
}

// Protects: files of a refused kernel cannot be mistaken for files of an accepted kernel.
TEST(KeptFiles, OfARefusedKernelAreNoneToUse) {
  const EmittedCuda emitted = attention();
  gate::Verdict verdict;
  verdict.cubin = "code";
  auto files = kept_files(emitted, verdict);
  EXPECT_EQ(files.at("kernel.cu"), emitted.files.at("kernel.cu"));
  EXPECT_EQ(files.at("kernel.cubin"), "code");
  EXPECT_TRUE(files.contains("status.json") && files.contains("runtime/host.cuh"));
  verdict.cubin.clear();
  verdict.refusals = {"k spills"};
  files = kept_files(emitted, verdict);
  EXPECT_FALSE(files.contains("kernel.cu") || files.contains("kernel.cubin"));
  EXPECT_EQ(files.at("kernel.refused.cu"), emitted.files.at("kernel.cu"));
  EXPECT_NE(files.at("status.json").find("\"status\": \"refused\""), std::string::npos);
}

// Protects the order and the end of the remedies for a kernel that ptxas changes.
TEST(Remedy, PinsForLostOverlapsThenRegistersThenNothing) {
  gate::Verdict verdict{{}, {"C7514"}, true, false};
  Request request;
  const auto first = remedy_for(request, verdict);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(first->request.pins);
  EXPECT_EQ(first->request.spare_registers, 8);
  verdict.overlaps_lost = true;
  const auto pinned = remedy_for(request, verdict);
  ASSERT_TRUE(pinned.has_value());
  EXPECT_TRUE(pinned->request.pins);
  EXPECT_EQ(pinned->request.spare_registers, 0);
  int rounds = 0;
  for (auto next = remedy_for(request, verdict); next; next = remedy_for(next->request, verdict))
    ++rounds;
  EXPECT_EQ(rounds, 3);
}

// Protects: the alternative that is measured is an alternative of this problem, not of another.
TEST(Remedy, AnAlternativeIsNotSolvedAgain) {
  Request request;
  request.alternatives.take = 2;
  EXPECT_FALSE(remedy_for(request, gate::Verdict{{}, {"C7514"}, true, false}).has_value());
  const auto pinned = remedy_for(request, gate::Verdict{{}, {"lost"}, true, true});
  ASSERT_TRUE(pinned.has_value());
  EXPECT_TRUE(pinned->request.pins);
  EXPECT_FALSE(remedy_for(pinned->request, gate::Verdict{{}, {"lost"}, true, true}).has_value());
}

TEST(Remedy, NoneForAcceptedKernelsAndForThoseThatDoNotCompile) {
  EXPECT_FALSE(remedy_for({}, gate::Verdict{{}, {}, true, false}).has_value());
  EXPECT_FALSE(
      remedy_for({}, gate::Verdict{{}, {"error: expected a ;"}, false, false}).has_value());
}

}  // namespace
}  // namespace twill::driver
