#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "twill/cli/commands.h"
#include "twill/cli/html_option.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/numbers.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/simulate_loop.h"
#include "twill/report/story.h"
#include "twill/simulate/trace.h"

namespace twill::cli {
namespace {

constexpr std::int64_t kMostTraced = 5000;  ///< trips that give some 50 MB of text
constexpr std::int64_t kTraced = 20;  ///< trips that show a steady state, in some 100 KB of text

struct SimulateChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  driver::RunRequest wanted;
  bool chose_trips = false;
  std::uint64_t seed = 0;
  bool json = false;
  bool timing = false;
  bool numbers = false;
  NumberOptions with;
  std::string trace;
  Html html;
};

constexpr const char* kSimulateFooter = R"(Examples:
  twill simulate kernels/fa_fwd/sm_90/d128.pre.ttgir
  twill simulate loops/gemm.loop --trips 16 --trace gemm.json    open it at ui.perfetto.dev
  twill simulate plan.json --jitter 7
  twill simulate kernels/fa_bwd/sm_100/m64n128d128_tmared.pre.ttgir --numbers)";

int show_findings(const std::string& message, const std::vector<std::string>& lines, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  for (const std::string& line : lines) std::fprintf(stderr, "  %s\n", line.c_str());
  return code;
}

/// Says why there is no plan to run.
int show_no_plan(const SimulateChoices& choices, const driver::SimulatedLoop& loop) {
  std::vector<std::string> lines;
  for (const plan::Finding& it : loop.findings) lines.push_back(it.rule + ": " + it.message);
  if (!loop.outcome) {
    return show_findings(choices.request.input.name + ": error: the plan breaks a rule", lines,
                         kUnverified);
  }
  if (!lines.empty()) {
    return show_findings(
        "twill: error: our plan fails its proof; this is a bug of ours, please report it", lines,
        kUnverified);
  }
  if (!loop.outcome->violations.empty()) {
    return show_findings("twill: error: the schedule breaks a rule", loop.outcome->violations,
                         kUnverified);
  }
  if (loop.refusal) {
    refuse(*loop.refusal);
    return kNoPlan;
  }
  const int code = exit_code_of(*loop.outcome);
  return show_findings(
      "twill: error: there is no schedule to simulate: " + loop.outcome->answer.argument, {},
      code == kAnswer ? kUndecided : code);
}

std::string seconds_line(const driver::SimulatedLoop& loop) {
  return fmt::format("\nseconds: schedule {:.3f}, plan and proof {:.3f}, run {:.3f}\n",
                     loop.seconds.schedule, loop.seconds.plan, loop.run_seconds);
}

simulate::TraceNotes notes_of(const driver::SimulatedLoop& loop) {
  simulate::TraceNotes notes;
  if (loop.costs) notes.costs = &*loop.costs;
  const bool same = loop.outcome && loop.outcome->lines.size() == loop.plan->plan().values.size();
  if (same) notes.lines = loop.outcome->lines;
  return notes;
}

int show(const SimulateChoices& choices, const driver::SimulatedLoop& loop) {
  if (loop.outcome) warn(loop.outcome->warnings);
  if (!loop.plan) return show_no_plan(choices, loop);
  if (loop.fault) {
    return show_findings("twill: internal error: a proven plan cannot be run, please report it: " +
                             loop.fault->message,
                         loop.fault->roles, kOurBug);
  }
  const plan::Plan& plan = loop.plan->plan();
  if (!choices.trace.empty()) {
    const auto written =
        write_file(choices.trace, simulate::trace_json(plan, *loop.timeline, notes_of(loop)));
    if (!written) return refuse(written.error());
  }
  if (choices.html.is_wanted()) {
    driver::PageParts parts;
    parts.command = "twill simulate";
    parts.triton = loop.triton;
    parts.printed = loop.printed;
    const auto written = write_page(choices.html, loop, parts);
    if (!written) return refuse(written.error());
  }
  if (choices.trace == "-" || choices.html.is_all()) return kAnswer;
  const std::string story = loop.outcome ? report::story(*loop.outcome) + "\n" : "";
  std::string text = choices.json ? simulate::simulation_json(plan, *loop.run, loop.account)
                                  : story + simulate::to_text(plan, *loop.run, loop.account);
  if (choices.timing) text += seconds_line(loop);
  const auto printed = print(text);
  return printed ? kAnswer : refuse(printed.error());
}

int run(SimulateChoices choices) {
  const bool records = !choices.trace.empty() || choices.html.is_wanted();
  if (records && choices.chose_trips && choices.wanted.trips > kMostTraced) {
    return show_findings("twill: --trace and --html: a timeline has at most " +
                             std::to_string(kMostTraced) + " trips, not " +
                             std::to_string(choices.wanted.trips),
                         {}, kUsage);
  }
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  if (const auto read = read_schedule(choices.request); !read) return refuse(read.error());
  choices.request.input = *std::move(input);
  warn(ignored_options(choices.given, choices.request.input));
  choices.request.limits.progress = progress_line();
  if (choices.numbers) {
    return run_numbers(choices.request, choices.with, choices.wanted.jitter, choices.json);
  }
  if (records) {
    const std::int64_t few = choices.html.is_wanted() ? driver::kPageTrips : kTraced;
    choices.wanted.recorded = choices.chose_trips ? choices.wanted.trips : few;
    choices.wanted.for_page = choices.html.is_wanted();
  }
  const auto loop = driver::simulate_loop(choices.request, choices.wanted);
  end_progress_line();
  if (!loop) return refuse(loop.error());
  return show(choices, *loop);
}

}  // namespace

void add_simulate_command(Command app, Session& session) {
  auto choices = std::make_shared<SimulateChoices>();
  const Command command =
      app.add_subcommand("simulate", "Run the kernel's plan on a model of the GPU");
  driver::Request& request = choices->request;
  command
      .add_option("INPUT", choices->input,
                  "TTGIR, .task or .loop file, or a plan's JSON; - reads standard input")
      .required();
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(command, request);
  add_alternative_option(command, request);
  add_schedule_option(command, request);
  add_tile_options(command, request);
  const Option trips =
      command.add_option("--trips", choices->wanted.trips, "Iterations of the loop")
          .capture_default_str()
          .whole_number(0, simulate::kMostTrips);
  const Option jitter =
      command
          .add_option(
              "--jitter", choices->seed,
              "Seed: each load and store takes 1 to 4 times its latency, at random [exactly once]")
          .whole_number(0, std::numeric_limits<std::int64_t>::max());
  add_work_limit_option(command, request,
                        "Units of solver work after which to plan the best schedule known");
  const Option trace =
      command.add_option("--trace", choices->trace,
                         "Write a timeline of 20 trips (96 with --html), or of --trips, to this "
                         "file, for Perfetto");
  const Option numbers =
      command
          .add_flag(
              "--numbers", choices->numbers,
              "Run the plan with real numbers and compare them with those of the kernel's text")
          .excludes(trips)
          .excludes(trace);
  add_number_options(command, choices->with);
  const Option json = command.add_flag("--json", choices->json, "Print JSON instead of text");
  add_html_options(command, choices->html).excludes(numbers);
  command.add_flag("--timing", choices->timing, "Also print the seconds each step took")
      .excludes(json)
      .excludes(numbers);
  command.footer(kSimulateFooter);
  command.callback([choices, jitter, trips, command, &session] {
    check_alternatives(command, choices->request);
    check_tiles(choices->request);
    if (!jitter.empty()) choices->wanted.jitter = choices->seed;
    choices->chose_trips = trips.count() > 0;
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
