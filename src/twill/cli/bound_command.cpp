#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/numbers.h"
#include "twill/cli/output.h"
#include "twill/driver/limits.h"

namespace twill::cli {
namespace {

struct BoundChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  std::optional<std::int64_t> measured;
  std::optional<double> microseconds;
  std::vector<std::int64_t> grid;
  std::vector<std::string> arguments;
  std::optional<std::int64_t> trips;
  std::optional<double> clock_mhz;
  bool json = false;
};

constexpr const char* kBoundFooter = R"(Examples:
  twill bound loops/fwd_b2.loop
  twill bound kernels/fa_fwd/sm_90/d128.pre.ttgir --measured 2950
  twill bound kernel.ttgir --time-us 412 --grid 128,64 --args N_CTX=8192
  twill bound loops/published/fa3_forward_hopper.loop)";

/// The timed launch, if the options name a launch. Otherwise, or if an argument is wrong, `code` is
/// the exit code.
std::optional<driver::TimedLaunch> timed_launch(const BoundChoices& choices, int& code) {
  if (!choices.microseconds) return std::nullopt;
  driver::TimedLaunch timed;
  timed.microseconds = *choices.microseconds;
  timed.trips = choices.trips;
  timed.clock_mhz = choices.clock_mhz;
  timed.launch.programs = {1, 1, 1};
  std::copy(choices.grid.begin(), choices.grid.end(), timed.launch.programs.begin());
  code = take_arguments(choices.arguments, timed.launch);
  return timed;
}

int exit_code_of_limits(const report::Limits& limits) {
  for (const report::RatedBounds& end : limits.rates) {
    if (end.infeasible) return kInfeasible;
  }
  return limits.imported && !limits.imported->violations.empty() ? kUnverified : kAnswer;
}

int run(BoundChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  warn(ignored_options(choices.given, choices.request.input));
  int code = kAnswer;
  const auto timed = timed_launch(choices, code);
  if (code != kAnswer) return code;
  auto limits = driver::bound_loop(choices.request, timed);
  if (!limits) return refuse(limits.error());
  limits->measured = choices.measured;
  warn(limits->warnings);
  const auto printed =
      print(choices.json ? report::limits_json(*limits) : report::limits_text(*limits));
  return printed ? exit_code_of_limits(*limits) : refuse(printed.error());
}

/// Adds the options about a launch that was timed.
void add_launch_options(Command command, BoundChoices& choices) {
  constexpr double kMostMicroseconds = 1e12;
  constexpr double kMostMegahertz = 1e5;
  const Option time =
      command
          .add_option("--time-us", choices.microseconds,
                      "Microseconds that a launch of the kernel took, to compare with")
          .real_range(1e-3, kMostMicroseconds);
  const Option grid =
      command.add_option("--grid", choices.grid, "X[,Y[,Z]], with --time-us: CTAs of the launch")
          .delimiter(',')
          .expected(1, 3)
          .whole_number(1, std::int64_t{1} << 31);
  time.needs(grid);
  grid.needs(time);
  command
      .add_option("--args", choices.arguments,
                  "NAME=VALUE[,...], with --time-us: arguments that the loop's trips depend on")
      .delimiter(',')
      .needs(time);
  command
      .add_option("--trips", choices.trips,
                  "With --time-us: iterations of the loop in each CTA [what the arguments say]")
      .whole_number(0, 1'000'000'000)
      .needs(time);
  command
      .add_option("--clock-mhz", choices.clock_mhz,
                  "With --time-us: clock of the SMs during the launch [the machine's highest]")
      .real_range(1.0, kMostMegahertz)
      .needs(time);
}

}  // namespace

void add_bound_command(Command app, Session& session) {
  auto choices = std::make_shared<BoundChoices>();
  const Command command =
      app.add_subcommand("bound", "Lower bounds of a loop, each with its reason");
  driver::Request& request = choices->request;
  command
      .add_option(
          "INPUT", choices->input,
          "TTGIR, .task or .loop file, or the JSON of `twill schedule`; - reads standard input")
      .required();
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  command
      .add_option("--measured", choices->measured,
                  "Cycles per iteration that were measured, to compare with")
      .whole_number(1, problem::kLargestTotal);
  add_launch_options(command, *choices);
  command.add_flag("--json", choices->json, "Print JSON instead of text");
  command.footer(kBoundFooter);
  command.callback([choices, command, &session] {
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
