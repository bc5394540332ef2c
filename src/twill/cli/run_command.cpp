#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/cli/commands.h"
#include "twill/cli/interruption.h"
#include "twill/cli/numbers.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/run_kernel.h"
#include "twill/driver/run_module.h"

namespace twill::cli {
namespace {

struct RunChoices {
  std::vector<std::string> folders;
  driver::RunKernelRequest request;
  std::vector<std::string> arguments;  ///< "NAME=VALUE"
  std::vector<std::int64_t> grid;
  std::string against;  ///< only for modules
  bool trips_given = false;
  bool json = false;
};

constexpr std::int64_t kMostTrips = 64;

constexpr const char* kRunFooter = R"(Examples:
  twill emit cuda kernels/fa_fwd/sm_90/d128.pre.ttgir -o fa && twill run fa
  twill run fa --trips 0,1,7 --seeds 20 --completion random
  twill run gemm --arg arg0=weights.npy --arg table=0..64
  twill run fa.ttgir --against kernels/fa_fwd/sm_90/d128.pre.ttgir)";

/// Runs a module; returns the exit code of its report.
Result<int> run_module(const RunChoices& choices, const std::string& file) {
  driver::RunModuleRequest request;
  TWILL_TRY(request.module, driver::read_input(file));
  request.against = choices.against;
  request.given = choices.request.given;
  if (choices.trips_given) request.trips = choices.request.trips;
  request.seed = choices.request.seed;
  request.seeds = choices.request.seeds;
  TWILL_TRY(const driver::RanModule ran, driver::run_module(request));
  TWILL_TRY_VOID(print(choices.json ? run::report_json(ran.report, ran.program)
                                    : run::to_text(ran.report, ran.program)));
  return run::agrees(ran.report) ? kAnswer : kUnverified;
}

/// Whether the argument is the text of a module, and no folder.
bool is_module(const std::string& argument) {
  std::error_code ignored;
  return argument == "-" || std::filesystem::is_regular_file(argument, ignored);
}

/// Runs the folder; returns the exit code of its report.
Result<int> run_one(RunChoices& choices, std::optional<driver::RunSession>& session,
                    const std::string& folder) {
  if (is_module(folder)) return run_module(choices, folder);
  if (!choices.against.empty()) {
    return fail({folder}, "is no text of a module, and --against compares modules only");
  }
  if (!session) {
    TWILL_TRY(driver::RunSession started, driver::RunSession::start(choices.request.go_on));
    session.emplace(std::move(started));
  }
  choices.request.folder = folder;
  TWILL_TRY(const run::Report report, driver::run_kernel(choices.request, *session));
  end_progress_line();
  TWILL_TRY_VOID(print(choices.json ? run::report_json(report) : run::to_text(report, folder)));
  return run::agrees(report) ? kAnswer : kUnverified;
}

int run(RunChoices choices) {
  const int taken = take_arguments(choices.arguments, choices.request.given.launch);
  if (taken != kAnswer) return taken;
  if (!choices.grid.empty()) {
    choices.request.given.grid = {choices.grid[0], choices.grid[1], choices.grid[2]};
  }
  int worst = kAnswer;
  choices.request.go_on = [waiting = waiting_line("compiles and runs the kernel")] {
    waiting();
    return Interruption::caught() == 0;
  };
  {
    std::optional<Interruption> interruption;  // an interrupted run removes its folders first
    std::optional<driver::RunSession> session;
    for (const std::string& folder : choices.folders) {
      if (!interruption && !is_module(folder)) interruption.emplace();
      const auto code = run_one(choices, session, folder);
      end_progress_line();
      if (Interruption::caught() != 0) break;
      if (!code) refuse(code.error());
      worst = std::max(worst, code ? *code : static_cast<int>(kBadInput));
    }
  }
  if (const int signal = Interruption::caught()) end_by(signal);
  return worst;
}

void add_options(Command command, RunChoices& choices) {
  driver::RunKernelRequest& request = choices.request;
  command
      .add_option("KERNEL", choices.folders,
                  "Folder of `twill emit cuda`, or TTGIR whose warps have roles; several are run "
                  "one by one")
      .required();
  command.add_option("--against", choices.against,
                     "TTGIR of the kernel whose work the roles must do");
  command
      .add_option(
          "--trips", request.trips,
          "Iterations of the main loop, with commas between: a run for each [0 to 4, and one more "
          "than the deepest ring has slots, or twice as many; of TTGIR all up to there]")
      .delimiter(',')
      .whole_number(0, kMostTrips);
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  command.add_option("--seed", request.seed, "Seed of sizes, values and the order of threads [1]")
      .capture_default_str()
      .whole_number(0, kAny);
  command.add_option("--seeds", request.seeds, "Number of seeds to run, from --seed on [1]")
      .capture_default_str()
      .whole_number(1, 100'000);
  const std::map<std::string, std::vector<bool>> alternatives = {
      {"late", {false}}, {"random", {true}}, {"both", {false, true}}};
  command.add_choice(
      "--completion", alternatives,
      [&request](const std::vector<bool>& random) { request.random = random; },
      "When asynchronous work is done: as late as the memory model allows, at random, or a run "
      "of both [both]");
  command.add_flag("--interleave", request.switch_at_memory,
                   "Threads take turns at loads and stores, too, not only where they synchronize");
  command.add_option("--sms", request.processors, "CTAs of a persistent kernel")
      .capture_default_str()
      .whole_number(1, 132);
  command
      .add_option("--size", request.given.size,
                  "Value of the integer arguments that drive no loop [by seed]")
      .whole_number(1, kLargestSize);
  command.add_option("--arg", choices.arguments,
                     "NAME=VALUE: value of this argument, or of each element of an "
                     "array: a number, a range, or a file; repeatable");
  command.add_option("--grid", choices.grid, "Program ids along x, y and z, as X,Y,Z [by seed]")
      .delimiter(',')
      .expected(3)
      .whole_number(1, 64);
  command
      .add_option_function<int>(
          "--timeout", [&request](int seconds) { request.limit = std::chrono::seconds(seconds); },
          "Seconds after which a call is stopped [120]")
      .whole_number(1, 86'400);
  command.add_option("--keep", request.keep, "Keep the program, and its last call, in this folder");
  command.add_flag("--json", choices.json, "Print JSON instead of text");
}

}  // namespace

void add_run_command(Command app, Session& session) {
  auto choices = std::make_shared<RunChoices>();
  const Command command =
      app.add_subcommand("run", "Run kernels on this computer's CPU, and compare with their text");
  add_options(command, *choices);
  command.footer(kRunFooter);
  command.callback([choices, command, &session] {
    choices->trips_given = command.count("--trips") > 0;
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
