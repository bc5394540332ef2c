#include "twill/gate/compile.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "twill/gate/process.h"

namespace twill::gate {
namespace {

namespace fs = std::filesystem;

/// A folder of this test's own.
fs::path fresh_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  fs::path folder = fs::path(::testing::TempDir()) / (std::string("twill_gate_") + test->name());
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

fs::path write(const fs::path& path, const std::string& text, bool executable = false) {
  std::ofstream(path) << text;
  if (executable) fs::permissions(path, fs::perms::owner_all);
  return path;
}

// Protects the way to other programs: arguments arrive as they are, both streams and the status
// come back, and what cannot be started is a diagnostic.
TEST(Process, RunsWithoutAShell) {
  const fs::path script =
      write(fresh_folder() / "say", "#!/bin/sh\necho \"[$1][$2]\"\necho wrong >&2\nexit 3\n", true);
  const auto finished = run({script.string(), "a b; $HOME", ""});
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->status, 3);
  EXPECT_EQ(finished->output, "[a b; $HOME][]\nwrong\n");
  EXPECT_FALSE(run({"/no/such/program"}).has_value());
}

// Protects against compilers that hang: they are stopped, and it is said.
TEST(Process, DoesNotWaitForever) {
  const fs::path script =
      write(fresh_folder() / "hang", "#!/bin/sh\necho begun\nexec sleep 60\n", true);
  const auto begin = std::chrono::steady_clock::now();
  const auto stopped = run({script.string()}, std::chrono::seconds(1));
  ASSERT_FALSE(stopped.has_value());
  EXPECT_NE(to_string(stopped.error()).find("did not end within 1 seconds"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// Protects against a full pipe: a program may print more than fits into one.
TEST(Process, ReadsLongOutput) {
  const fs::path script = write(
      fresh_folder() / "long",
      "#!/bin/sh\ni=0\nwhile [ $i -lt 5000 ]; do echo 0123456789012345678901234567890123456789; "
      "i=$((i+1)); done\nkill -9 $$\n",
      true);
  const auto finished = run({script.string()});
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->output.size(), 5000U * 41U);
  EXPECT_EQ(finished->status, 128 + 9);
}

// Protects the order of places, and that only what can be executed counts.
TEST(Toolchain, TakesTheFirstThatCanBeExecuted) {
  const fs::path folder = fresh_folder();
  fs::create_directories(folder / "one");
  fs::create_directories(folder / "two");
  fs::create_directories(folder / "home/bin/nvdisasm");  // a folder is no program
  write(folder / "one/nvcc", "no program");
  write(folder / "two/nvcc", "#!/bin/sh\n", true);
  write(folder / "home/bin/nvcc", "#!/bin/sh\n", true);
  const std::string path = ":" + (folder / "one").string() + ":" + (folder / "two").string();
  const std::string home = (folder / "home").string();
  EXPECT_EQ(find_toolchain({path, home}).nvcc, folder / "two/nvcc");
  EXPECT_EQ(find_toolchain({"", home}).nvcc, folder / "home/bin/nvcc");
  EXPECT_NE(find_toolchain({"", home}).nvdisasm, folder / "home/bin/nvdisasm");
}

/// A compiler that prints `text` and ends with `status`.
Toolchain compiler_that_prints(const fs::path& folder, const std::string& text, int status) {
  write(folder / "text", text);
  const std::string script =
      "#!/bin/sh\ncat " + (folder / "text").string() + "\nexit " + std::to_string(status) + "\n";
  return {write(folder / "nvcc", script, true), std::nullopt};
}

// Protects the verdict: what ptxas remarks refuses, silence about functions does, clean is clean.
TEST(Compile, JudgesWhatTheCompilerPrints) {
  const fs::path folder = fresh_folder();
  const fs::path source = write(folder / "kernel.cu", "");
  const std::string good =
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers\n";
  const auto accepted = compile_cuda(compiler_that_prints(folder, good, 0), source);
  ASSERT_TRUE(accepted.has_value());
  EXPECT_TRUE(accepted->accepted());
  EXPECT_EQ(accepted->cubin, folder / "kernel.cubin");
  EXPECT_EQ(accepted->log, good);
  EXPECT_EQ(accepted->command.back(), source.string());
  EXPECT_EQ(accepted->command.at(accepted->command.size() - 2), folder.string());  // of -I

  const std::string loud = "ptxas info    : (C7512) Potential Performance Loss: serialized\n";
  const auto remarked = compile_cuda(compiler_that_prints(folder, loud + good, 0), source);
  ASSERT_TRUE(remarked.has_value());
  EXPECT_EQ(remarked->refusals,
            std::vector<std::string>{"ptxas C7512: Potential Performance Loss: serialized"});

  const auto silent = compile_cuda(compiler_that_prints(folder, "", 0), source);
  ASSERT_TRUE(silent.has_value());
  EXPECT_FALSE(silent->accepted());

  const std::string wrong = "kernel.cu(19): error: identifier \"x\" is undefined\n  x = 1;\n";
  const auto broken = compile_cuda(compiler_that_prints(folder, wrong, 2), source);
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->refusals,
            (std::vector<std::string>{"nvcc fails with status 2",
                                      "kernel.cu(19): error: identifier \"x\" is undefined"}));
}

/// Bytes of all kinds, the same every time.
std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Protects against compilers that end well and say nothing of worth: a report is accepted as a
// whole or not at all.
TEST(Compile, RefusesReportsThatAreNone) {
  const fs::path folder = fresh_folder();
  const fs::path source = write(folder / "kernel.cu", "");
  const std::string begun = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n";
  for (const std::string& text :
       {std::string(), noise(100'000), begun, begun + noise(1000), begun + "Killed\n",
        begun + "ptxas info    : Function properties for k\n"}) {
    const auto compiled = compile_cuda(compiler_that_prints(folder, text, 0), source);
    ASSERT_TRUE(compiled.has_value());
    EXPECT_FALSE(compiled->accepted()) << text.substr(0, 200);
    const auto failed = compile_cuda(compiler_that_prints(folder, text, 255), source);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->refusals.front(), "nvcc fails with status 255");
  }
}

// The same of disassemblers: nothing printed, noise, a bad end, an end by a signal.
TEST(Disassemble, FailsOnWhatIsNoCode) {
  const fs::path folder = fresh_folder();
  const fs::path cubin = write(folder / "kernel.cubin", "");
  const auto with = [&](const std::string& text, const std::string& end) {
    write(folder / "text", text);
    const std::string script = "#!/bin/sh\ncat " + (folder / "text").string() + "\n" + end + "\n";
    return disassemble({std::nullopt, write(folder / "nvdisasm", script, true)}, cubin);
  };
  const std::string good = ".text.k:\n/*0000*/ EXIT ;\n";
  EXPECT_TRUE(with(good, "exit 0").has_value());
  EXPECT_FALSE(with("", "exit 0").has_value());
  EXPECT_FALSE(with(noise(100'000), "exit 0").has_value());
  EXPECT_FALSE(with(good.substr(0, good.size() - 3), "exit 0").has_value());
  const auto failed = with(good, "exit 3");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "nvdisasm fails with status 3");
  EXPECT_FALSE(with(good, "kill -9 $$").has_value());
}

// Protects what the user reads where something is missing.
TEST(Compile, SaysWhatIsMissing) {
  const fs::path folder = fresh_folder();
  const fs::path source = write(folder / "kernel.cu", "");
  const auto no_compiler = compile_cuda({}, source);
  ASSERT_FALSE(no_compiler.has_value());
  EXPECT_EQ(no_compiler.error().message, "there is no nvcc to compile this with");
  EXPECT_FALSE(compile_cuda(compiler_that_prints(folder, "", 0), folder / "none.cu").has_value());
  EXPECT_FALSE(disassemble({}, folder / "kernel.cubin").has_value());
}

// Protects the whole way with the real compiler, where there is one.
TEST(Compile, JudgesRealKernels) {
  const Toolchain toolchain = find_toolchain(places_of_environment());
  if (!toolchain.nvcc) GTEST_SKIP() << "no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda";
  const fs::path folder = fresh_folder();
  const std::string product =
      "#include \"runtime/wgmma.cuh\"\n"
      "using namespace twill;\n"
      "__global__ void __launch_bounds__(128, 1) k(float* out) {\n"
      "  extern __shared__ char smem[];\n"
      "  float d[64];\n"
      "  const uint64_t a = operand(smem, 0, 1024, 128);\n"
      "  wgmma_fence();\n"
      "  wgmma_ss<128, __half, Major::k, Major::k>(d, a, a, false);\n"
      "  wgmma_commit();\n"
      "  BEFORE\n"
      "  for (int i = 0; i < 64; ++i) out[i * 128 + threadIdx.x] = d[i];\n"
      "  AFTER\n"
      "}\n";
  CompileOptions options;
  options.includes = {TWILL_SOURCE_DIR};
  const auto good = compile_cuda(
      toolchain,
      write(folder / "good.cu", "#define BEFORE wgmma_wait<0>();\n#define AFTER\n" + product),
      options);
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good->accepted()) << good->log;
  EXPECT_TRUE(fs::exists(good->cubin));
  const auto early = compile_cuda(
      toolchain,
      write(folder / "early.cu", "#define BEFORE\n#define AFTER wgmma_wait<0>();\n" + product),
      options);
  ASSERT_TRUE(early.has_value());
  EXPECT_FALSE(early->accepted()) << early->log;

  if (!toolchain.nvdisasm) return;
  const auto code = disassemble(toolchain, good->cubin);
  ASSERT_TRUE(code.has_value());
  ASSERT_EQ(code->size(), 1U);
  EXPECT_EQ(code->at(0).entry.products, 1);
  EXPECT_EQ(code->at(0).entry.waits, 1);
  EXPECT_TRUE(refusals(code->at(0)).empty());
}

}  // namespace
}  // namespace twill::gate
