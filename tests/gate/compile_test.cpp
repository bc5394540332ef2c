#include "twill/gate/compile.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

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

// Protects calls of other programs: arguments arrive unchanged, both streams and the status come
// back, and a failed start is a diagnostic.
TEST(Process, RunsWithoutAShell) {
  const fs::path script =
      write(fresh_folder() / "say", "#!/bin/sh\necho \"[$1][$2]\"\necho wrong >&2\nexit 3\n", true);
  const auto finished = run({script.string(), "a b; $HOME", ""});
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->status, 3);
  EXPECT_EQ(finished->output, "[a b; $HOME][]\nwrong\n");
  EXPECT_FALSE(run({"/no/such/program"}).has_value());
}

// Protects against compilers that hang: they are stopped, and a message says so.
TEST(Process, DoesNotWaitForever) {
  const fs::path script =
      write(fresh_folder() / "hang", "#!/bin/sh\necho begun\nexec sleep 60\n", true);
  const auto begin = std::chrono::steady_clock::now();
  const auto stopped = run({script.string()}, std::chrono::seconds(1));
  ASSERT_FALSE(stopped.has_value());
  EXPECT_NE(to_string(stopped.error()).find("did not end within 1 seconds"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

/// Whether the process exists and is no zombie.
bool runs(const fs::path& pid_file) {
  std::string pid;
  std::ifstream(pid_file) >> pid;
  if (pid.empty()) return false;
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z";
}

bool becomes(bool wanted, const fs::path& pid_file) {
  for (int i = 0; i < 200 && runs(pid_file) != wanted; ++i) ::usleep(50'000);
  return runs(pid_file) == wanted;
}

/// A program that starts another, as nvcc starts ptxas, and waits for it.
fs::path nested(const fs::path& folder) {
  write(folder / "inner", "#!/bin/sh\necho $$ > " + (folder / "pid").string() + "\nexec sleep 60\n",
        true);
  return write(folder / "outer", "#!/bin/sh\n" + (folder / "inner").string() + "\nexit 0\n", true);
}

// Protects against compilers that outlive twill: they and the programs they started end with twill,
// even if twill is killed by SIGKILL.
TEST(Process, DiesWithItsParentAndTakesItsChildrenAlong) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    const fs::path folder = fresh_folder();
    const fs::path outer = nested(folder);
    const pid_t parent = ::fork();
    if (parent == 0) {
      run({outer.string()}).has_value();
      ::_exit(0);
    }
    ASSERT_TRUE(becomes(true, folder / "pid"));
    ::kill(parent, signal);
    EXPECT_TRUE(becomes(false, folder / "pid")) << signal;
    ::waitpid(parent, nullptr, 0);
  }
}

// Protects the same if only the run is stopped: by its caller, or at its time limit.
TEST(Process, StopsWithAllThatItStarted) {
  const fs::path folder = fresh_folder();
  const fs::path outer = nested(folder);
  const auto stopped = run({outer.string()}, kLongestRun, [&] { return !runs(folder / "pid"); });
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().message, "this program was stopped");
  EXPECT_TRUE(becomes(false, folder / "pid"));
  EXPECT_FALSE(run({outer.string()}, std::chrono::seconds(1)).has_value());
  EXPECT_TRUE(becomes(false, folder / "pid"));
}

// Protects the variables of a program: the given ones come before this process's.
TEST(Process, TakesVariables) {
  const fs::path script =
      write(fresh_folder() / "say", "#!/bin/sh\necho \"$X_GIVEN|$PATH\"\n", true);
  const auto finished = run({script.string()}, kLongestRun, {}, {"X_GIVEN=a b"});
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->output, "a b|" + std::string(std::getenv("PATH")) + "\n");
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

// Protects the order of places; only files that can be executed count.
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

// Protects the other places: the newest of CUDA's folders, and Triton's wheel, from which the
// python3 on PATH would import. Python is asked only if there is no other place.
TEST(Toolchain, LooksInCudasFoldersAndInTritons) {
  const fs::path folder = fresh_folder();
  const auto program = [&](const std::string& place) {
    fs::create_directories((folder / place).parent_path());
    return write(folder / place, "#!/bin/sh\n", true);
  };
  Places places{(folder / "bin").string(), "", folder / "local"};
  EXPECT_FALSE(find_toolchain(places).nvdisasm.has_value());
  const fs::path triton = program("site/triton/backends/nvidia/bin/nvdisasm");
  program("bin/python3");
  write(folder / "bin/python3",
        "#!/bin/sh\necho\necho " + (folder / "none").string() + "\necho " +
            (folder / "site").string() + "\n",
        true);
  EXPECT_EQ(find_toolchain(places).nvdisasm, triton);
  EXPECT_FALSE(find_toolchain(places).nvcc.has_value());
  const fs::path nine = program("local/cuda-9.2/bin/nvdisasm");
  EXPECT_EQ(find_toolchain(places).nvdisasm, nine);
  const fs::path twelve = program("local/cuda-12.9/bin/nvdisasm");
  EXPECT_EQ(find_toolchain(places).nvdisasm, twelve);
  const fs::path usual = program("local/cuda/bin/nvdisasm");
  EXPECT_EQ(find_toolchain(places).nvdisasm, usual);
  places.cuda_home = (folder / "home").string();
  const fs::path home = program("home/bin/nvdisasm");
  EXPECT_EQ(find_toolchain(places).nvdisasm, home);
  write(folder / "bin/nvdisasm",
        "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.48'\n", true);
  EXPECT_EQ(find_toolchain(places).nvdisasm, folder / "bin/nvdisasm");
  EXPECT_EQ(version_of(folder / "bin/nvdisasm"), "13.0, V13.0.48");
  EXPECT_EQ(version_of(home), "");
}

/// A compiler that prints `text`, leaves machine code and ends with `status`.
Toolchain compiler_that_prints(const fs::path& folder, const std::string& text, int status) {
  write(folder / "text", text);
  const std::string script =
      "#!/bin/sh\ncat " + (folder / "text").string() +
      "\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo code > \"$2\"; shift; done\nexit " +
      std::to_string(status) + "\n";
  return {write(folder / "nvcc", script, true), std::nullopt};
}

// Protects the verdict: remarks of ptxas refuse a kernel, silence about functions does too, a clean
// report does not.
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
                                      "nvcc error: kernel.cu:19: identifier \"x\" is undefined"}));

  const std::string unused =
      "k/kernel.cu(204): warning #550-D: variable \"x\" was set but never used\n";
  const auto warned = compile_cuda(compiler_that_prints(folder, unused + good, 0), source);
  ASSERT_TRUE(warned.has_value());
  EXPECT_EQ(warned->refusals, std::vector<std::string>{"nvcc warning 550: kernel.cu:204: variable "
                                                       "\"x\" was set but never used"});

  const auto too_old = compile_cuda(
      compiler_that_prints(folder, "nvcc fatal   : Unsupported gpu architecture 'x'\n", 1), source);
  ASSERT_TRUE(too_old.has_value());
  EXPECT_EQ(too_old->refusals.back(), "nvcc fatal   : Unsupported gpu architecture 'x'");
}

// Protects against a compiler that reports success and leaves no file.
TEST(Compile, RefusesWhereNoMachineCodeIsLeft) {
  const fs::path folder = fresh_folder();
  const fs::path source = write(folder / "kernel.cu", "");
  write(folder / "nvcc",
        "#!/bin/sh\necho \"ptxas info    : Compiling entry function 'k' for 'sm_90a'\"\n"
        "echo 'ptxas info    : Function properties for k'\n"
        "echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n"
        "echo 'ptxas info    : Used 168 registers, used 1 barriers'\n",
        true);
  const auto compiled = compile_cuda({folder / "nvcc", std::nullopt}, source);
  ASSERT_TRUE(compiled.has_value());
  EXPECT_EQ(compiled->refusals, std::vector<std::string>{"nvcc leaves no machine code"});
}

/// Bytes of all kinds, the same every time.
std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Protects against compilers that exit with 0 and print no usable report: a report is accepted as a
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

// Protects the same for disassemblers: an empty listing, noise, a bad exit status, an end by a
// signal.
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

// Protects the message that the user reads if a tool is missing.
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
