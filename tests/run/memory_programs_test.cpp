#include "numerics/memory_programs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/emit_cuda.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/run_kernel.h"
#include "twill/driver/run_module.h"

// Protects: stores, loads and atomic additions at random places of a loop, as they are printed. Run
// on the CPU, kernel.cu and the module for Triton leave the text's values in memory, however
// asynchronous work completes and whichever role goes first; what is not printed is refused with a
// reason. Trip counts are those wanted, where the loop counts to an argument. `TWILL_ROUNDS` asks
// for more programs, and `TWILL_FIRST` for others.
namespace twill::driver {
namespace {

namespace fs = std::filesystem;

int number_in(const char* variable, int usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::max(0, std::atoi(text));
}

Request request_for(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  Request request;
  request.input.name = "program" + std::to_string(number) + ".ttgir";
  request.input.text = tests::random_memory_program(random);
  request.limits.work_limit = 2'000'000;  // any schedule will do
  return request;
}

/// The files of the program's kernel in a folder; empty: it is refused, with a reason.
std::string printed(int number, const fs::path& under, tests::Refusals& refusals) {
  const auto made = emit_cuda(request_for(number));
  if (!made) {
    EXPECT_EQ(made.error().message.find("bug"), std::string::npos) << to_string(made.error());
    refusals.add(made.error());
    return "";
  }
  EXPECT_TRUE(made->planned.findings.empty()) << number;
  if (made->files.empty()) {
    refusals.add(made->planned.refusal);
    return "";
  }
  const fs::path folder = under / ("program" + std::to_string(number));
  for (const auto& [name, text] : made->files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  return folder.string();
}

/// Prints these programs, and runs the kernels and the text. Returns the number of printed
/// programs.
int printed_and_right(const std::vector<int>& numbers, tests::Refusals& refusals) {
  const fs::path under = fs::path(::testing::TempDir()) / "twill_memory_programs";
  fs::remove_all(under);
  auto session = RunSession::start();
  EXPECT_TRUE(session.has_value()) << to_string(session.error());
  int ran = 0;
  for (const int number : numbers) {
    RunKernelRequest wanted;
    wanted.folder = printed(number, under, refusals);
    if (wanted.folder.empty() || !session) continue;
    wanted.trips = {0, 1, 2, 5};
    const auto report = run_kernel(wanted, *session);
    if (!report) {
      ADD_FAILURE() << number << ": " << to_string(report.error());
      continue;
    }
    ++ran;
    EXPECT_TRUE(run::agrees(*report)) << number << "\n" << run::to_text(*report, wanted.folder);
  }
  fs::remove_all(under);
  return ran;
}

TEST(MemoryPrograms, PrintedKernelsDoWhatTheTextDoes) {
  std::vector<int> numbers(static_cast<std::size_t>(10 * number_in("TWILL_ROUNDS", 1)));
  std::iota(numbers.begin(), numbers.end(), number_in("TWILL_FIRST", 0));
  tests::Refusals refusals;
  const int ran = printed_and_right(numbers, refusals), all = static_cast<int>(numbers.size());
  std::printf("%d programs: %d printed and run, %d refused\n%s", all, ran, refusals.count(),
              refusals.to_text().c_str());
  EXPECT_GT(8 * ran, all);
}

TEST(MemoryPrograms, AccessesAroundTheLoopKeepTheirOrder) {
  tests::Refusals refusals;
  EXPECT_EQ(printed_and_right({57, 81, 402, 578, 582, 604, 787, 827}, refusals), 0);
}

/// Prints these programs as TTGIR, and runs the modules and the text. Returns the number of printed
/// programs.
int modules_right(const std::vector<int>& numbers, tests::Refusals& refusals) {
  const fs::path text = fs::path(::testing::TempDir()) / "twill_memory_program.ttgir";
  int ran = 0;
  for (const int number : numbers) {
    const Request request = request_for(number);
    const auto made = emit_ttgir(request);
    if (!made) {
      const Diagnostic& why = made.error();
      EXPECT_EQ(why.message.find("bug"), std::string::npos) << number << ": " << to_string(why);
      EXPECT_GT(why.location.line, 0) << number << ": " << to_string(why);
      refusals.add(why);
      continue;
    }
    EXPECT_TRUE(made->planned.findings.empty()) << number;
    if (made->text.empty()) {
      refusals.add(made->planned.refusal);
      continue;
    }
    EXPECT_EQ(made->broken, "") << number;
    std::ofstream(text, std::ios::binary) << request.input.text;
    RunModuleRequest wanted;
    wanted.module = {"printed.ttgir", made->text};
    wanted.against = text.string();
    wanted.trips = {0, 1, 2, 5, 13};  // 13: twice around the deepest rings
    const auto report = run_module(wanted);
    if (!report) {
      ADD_FAILURE() << number << ": " << to_string(report.error());
      continue;
    }
    ++ran;
    std::set<std::int64_t> trips;
    for (const auto& trial : report->report.trials) trips.insert(trial.trips.value_or(-1));
    EXPECT_EQ(trips, std::set<std::int64_t>(wanted.trips.begin(), wanted.trips.end())) << number;
    EXPECT_TRUE(run::agrees(report->report)) << number << "\n"
                                             << run::to_text(report->report, report->program);
  }
  fs::remove(text);
  return ran;
}

TEST(MemoryPrograms, PrintedModulesDoWhatTheTextDoes) {
  std::vector<int> numbers(static_cast<std::size_t>(16 * number_in("TWILL_ROUNDS", 1)));
  std::iota(numbers.begin(), numbers.end(), number_in("TWILL_FIRST", 0));
  tests::Refusals refusals;
  const int ran = modules_right(numbers, refusals), all = static_cast<int>(numbers.size());
  std::printf("%d programs: %d printed as TTGIR and run, %d refused\n%s", all, ran,
              refusals.count(), refusals.to_text().c_str());
  EXPECT_GT(2 * ran, all);
}

/// Programs whose modules were wrong, or were reported as wrong. The first five have products
/// without a reader, the others boxes before the loop.
TEST(MemoryPrograms, ModulesThatWereWrongAreRight) {
  tests::Refusals refusals;
  EXPECT_GT(modules_right({445, 487, 495, 526, 606, 18, 31, 135}, refusals), 4);
}

}  // namespace
}  // namespace twill::driver
