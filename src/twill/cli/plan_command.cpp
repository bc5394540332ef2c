#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/check_plan.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/plan_loop.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"
#include "twill/report/story.h"

namespace twill::cli {
namespace {

struct PlanChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  bool check = false;
  bool json = false;
  bool timing = false;
  bool ttgir = false;
  std::string output;
};

constexpr const char* kPlanFooter = R"(Examples:
  twill plan kernels/fa_fwd/sm_90/d128.pre.ttgir
  twill plan kernels/gemm/sm_90/tma_128x256x64.pre.ttgir -o plan.json
  twill plan loops/fig1.loop --schedule order.loop
  twill plan --check plan.json)";

/// Prints findings, with their evidence, on standard error.
void list(const std::vector<plan::Finding>& findings) {
  for (const plan::Finding& finding : findings) {
    std::fprintf(stderr, "  %s: %s\n", finding.rule.c_str(), finding.message.c_str());
    for (const std::string& line : finding.trace) std::fprintf(stderr, "      %s\n", line.c_str());
  }
}

std::string proven_line(const plan::ProofSize& size) {
  return "proven for every trip count: no deadlock, no missed phase, no race (0.." +
         std::to_string(size.trips) + " laid out, " + std::to_string(size.events) + " events" +
         (size.some_mixtures
              ? "; of tiles\nwith differing trip counts every two in a row, more if alike "
                "or of up to 3 trips"
              : "") +
         ")\n";
}

int show_checked(const driver::Input& input, const std::string& machine) {
  const auto checked = driver::check_plan(input, machine);
  if (!checked) return refuse(checked.error());
  if (!checked->plan) {
    std::fprintf(stderr, "%s: error: the plan breaks a rule\n", input.name.c_str());
    list(checked->findings);
    return kUnverified;
  }
  const auto printed = print(proven_line(checked->plan->size()));
  return printed ? kAnswer : refuse(printed.error());
}

std::string seconds_line(const driver::PlannedLoop::Seconds& seconds) {
  return fmt::format("\nseconds: schedule {:.3f}, plan and proof {:.3f}\n", seconds.schedule,
                     seconds.plan);
}

int show(const PlanChoices& choices, const driver::PlannedLoop& planned) {
  if (!planned.plan) return show_missing_plan(planned);
  warn(planned.outcome.warnings);
  const plan::Plan& plan = planned.plan->plan();
  if (!choices.output.empty()) {
    const auto written = write_file(choices.output, plan::plan_json(plan));
    if (!written) return refuse(written.error());
  }
  if (choices.output == "-") return kAnswer;
  std::string text = choices.json ? plan::plan_json(plan)
                                  : report::story(planned.outcome) + "\n" + plan::to_text(plan) +
                                        "\n" + proven_line(planned.plan->size());
  if (choices.timing) text += seconds_line(planned.seconds);
  const auto printed = print(text);
  return printed ? kAnswer : refuse(printed.error());
}

/// The plan that `emit ttgir` prints.
Result<driver::PlannedLoop> plan_of_module(const driver::Request& request) {
  TWILL_TRY(driver::EmittedTtgir emitted, driver::emit_ttgir(request));
  if (emitted.stored) emitted.planned.plan = std::move(emitted.stored);
  return std::move(emitted.planned);
}

int run(PlanChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  warn(ignored_options(choices.given, *input));
  if (choices.check) return show_checked(*input, choices.request.machine);
  if (const auto read = read_schedule(choices.request); !read) return refuse(read.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  const auto planned =
      choices.ttgir ? plan_of_module(choices.request) : driver::answer_loop(choices.request);
  end_progress_line();
  if (!planned) return refuse(planned.error());
  return show(choices, *planned);
}

}  // namespace

int show_missing_plan(const driver::PlannedLoop& planned) {
  warn(planned.outcome.warnings);
  if (!planned.outcome.violations.empty()) {
    std::fputs("twill: error: the schedule breaks a rule\n", stderr);
    for (const std::string& line : planned.outcome.violations) {
      std::fprintf(stderr, "  %s\n", line.c_str());
    }
    return kUnverified;
  }
  if (planned.refusal) {
    refuse(*planned.refusal);
    return kNoPlan;
  }
  if (planned.findings.empty()) {
    std::fprintf(stderr, "twill: error: there is no schedule to plan: %s\n",
                 planned.outcome.answer.argument.c_str());
    const int code = exit_code_of(planned.outcome);
    if (code == kInfeasible) {
      std::fputs("hint: `twill explain` says what would make it possible, one change each\n",
                 stderr);
    }
    return code == kAnswer ? kUndecided : code;
  }
  std::fputs("twill: error: our plan fails its proof; this is a bug of ours, please report it\n",
             stderr);
  list(planned.findings);
  return kUnverified;
}

void add_plan_command(Command app, Session& session) {
  auto choices = std::make_shared<PlanChoices>();
  const Command command =
      app.add_subcommand("plan", "Plan the kernel of a loop's schedule, and prove the plan safe");
  driver::Request& request = choices->request;
  command
      .add_option("INPUT", choices->input,
                  "TTGIR, .task or .loop file, or with --check a plan; - reads standard input")
      .required();
  add_planning_options(command, request);
  const Option check =
      command.add_flag("--check", choices->check, "INPUT is a plan's JSON: prove it again")
          .excludes(command.get_option("--schedule"));
  command
      .add_flag("--ttgir", choices->ttgir,
                "The plan that `emit ttgir` prints: one warp stores the boxes that others fill")
      .excludes(check);
  const Option json = command.add_flag("--json", choices->json, "Print JSON instead of text");
  command.add_flag("--timing", choices->timing, "Also print the seconds each step took")
      .excludes(json)
      .excludes(check);
  command.add_option("-o,--output", choices->output, "Also write the JSON to this file");
  command.footer(kPlanFooter);
  command.callback([choices, command, &session] {
    check_planning(command, choices->request);
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
