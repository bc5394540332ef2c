#include "twill/gate/ptxas.h"

#include <gtest/gtest.h>

namespace twill::gate {
namespace {

constexpr const char* kGood = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4gemm' for 'sm_90a'
ptxas info    : Function properties for _Z4gemm
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 1024 bytes smem
ptxas info    : Compile time = 61.482 ms
)";

// Protects the figures for the emitter's report and for the loop back to the solver.
TEST(Ptxas, ReadsTheFiguresOfAKernel) {
  const PtxasReport report = read_ptxas(kGood);
  ASSERT_EQ(report.functions.size(), 1U);
  const FunctionReport& kernel = report.functions[0];
  EXPECT_EQ(kernel.name, "_Z4gemm");
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_EQ(kernel.registers, 168);
  EXPECT_EQ(kernel.barriers, 3);
  EXPECT_EQ(kernel.shared, 1024);
  EXPECT_EQ(kernel.stack + kernel.spill_stores + kernel.spill_loads, 0);
  EXPECT_TRUE(report.remarks.empty());
  EXPECT_TRUE(refusals(report).empty());
}

// Protects against taking one function's figures for another's: functions that are no kernels
// have properties but no "Used" line.
TEST(Ptxas, TellsKernelsFromFunctionsTheyCall) {
  const PtxasReport report = read_ptxas(
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 72 registers, used 0 barriers, 16 bytes cumulative stack size\n"
      "ptxas info    : Function properties for b\n"
      "    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n");
  ASSERT_EQ(report.functions.size(), 2U);
  EXPECT_EQ(report.functions[0].registers, 72);
  EXPECT_EQ(report.functions[0].stack, 16);
  EXPECT_FALSE(report.functions[1].is_kernel);
  EXPECT_EQ(report.functions[1].spill_loads, 12);
  const std::vector<std::string> reasons = refusals(report);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0], "a keeps 16 bytes in local memory");
  EXPECT_EQ(reasons[1], "b spills registers: 8 bytes stored, 12 bytes loaded");
}

std::vector<std::string> with_remark(const std::string& line) {
  return refusals(read_ptxas(line + "\n" + kGood));
}

// Protects the refusal of kernels that run but serialize their products or ignore setmaxnreg.
TEST(Ptxas, RefusesWhateverItRemarksOn) {
  const char* const lines[] = {
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
      "determine register count at entry.",
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the wgmma pipeline in the function "
      "'f'",
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 47 by compiler to allow "
      "use of registers defined by GMMA in function 'f'",
      "ptxas warning : Value of threads per SM for entry f is out of range",
      "ptxas fatal   : (C7602) Insufficient registers (128) to compile instruction at line 39 in "
      "function f. Try to compile with register target of 154 or higher.",
      "ptxas /tmp/x.ptx, line 12; error   : Instruction 'wgmma.fence' not supported on .target "
      "'sm_90'"};
  for (const char* line : lines) EXPECT_EQ(with_remark(line).size(), 1U) << line;
  EXPECT_EQ(with_remark(lines[2])[0],
            "ptxas C7517: warpgroup.wait is injected in around line 47 by compiler to allow use of "
            "registers defined by GMMA in function 'f'");
  EXPECT_EQ(read_ptxas(lines[4]).remarks.at(0).code, "C7602");
  EXPECT_TRUE(read_ptxas(lines[5]).remarks.at(0).code.empty());
}

// Protects against a report that ends early or lost a line: a missing number must not count as
// zero.
TEST(Ptxas, RefusesAKernelWhoseFiguresAreMissing) {
  const std::string good = kGood;
  const std::size_t named = good.find("'_Z4gemm'") + std::string("'_Z4gemm'").size();
  const std::size_t whole = good.find(" registers") + std::string(" registers").size();
  for (std::size_t length = named; length < whole; ++length) {
    const PtxasReport report = read_ptxas(good.substr(0, length));
    EXPECT_FALSE(report.functions.empty() || refusals(report).empty()) << length;
  }
  std::string spills_lost = good;
  spills_lost.erase(good.find("    0 bytes stack"), std::string("    0 bytes stack").size());
  spills_lost.erase(spills_lost.find(" frame"),
                    spills_lost.find("ptxas info    : Used") - spills_lost.find(" frame"));
  EXPECT_EQ(refusals(read_ptxas(spills_lost)),
            std::vector<std::string>{"ptxas does not say what _Z4gemm takes"});
}

// Protects against failures on text that is not ptxas'.
TEST(Ptxas, SkipsWhatItDoesNotKnow) {
  const PtxasReport report = read_ptxas(
      "kernel.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "    99 bytes stack frame\n"
      "ptxas\nptxas info\nptxas info    :\n\n(C7511)");
  EXPECT_TRUE(report.functions.empty());
  EXPECT_TRUE(report.remarks.empty());
}

}  // namespace
}  // namespace twill::gate
