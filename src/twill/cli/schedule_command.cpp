#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "twill/cli/batch.h"
#include "twill/cli/commands.h"
#include "twill/cli/html_option.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/normalize_option.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/cli/rate_option.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/plan_loop.h"
#include "twill/report/schedule_json.h"
#include "twill/report/summary.h"

namespace twill::cli {
namespace {

struct ScheduleChoices {
  std::string input;
  std::string batch;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  std::int64_t trips = 0;
  bool timing = false;
  bool verbose = false;
  bool json = false;
  std::string output;
  std::string certificate;
  Html html;
  std::string roles;
};

constexpr const char* kScheduleFooter = R"(Examples:
  twill schedule kernels/fa_fwd/sm_90/d128.pre.ttgir --trips 128
  twill schedule kernel.ttgir --machine b200 --subtile 0
  twill schedule kernel.ttgir --alternatives 5 --within 2
  twill loop kernel.ttgir --machine h200 | twill schedule - --json
  ls loops/*.loop | twill schedule --batch - --jobs 2)";

/// Writes the files that were requested beside the answer.
Result<void> write_files(const ScheduleChoices& choices, const driver::PlannedLoop& planned,
                         const certify::Files& certificate) {
  const report::Printing printing{choices.trips, choices.timing, choices.verbose};
  if (!choices.output.empty()) {
    TWILL_TRY_VOID(write_file(choices.output, report::schedule_json(planned.outcome, printing)));
  }
  if (!choices.certificate.empty()) {
    TWILL_TRY_VOID(
        write_folder(choices.certificate, certificate,
                     {std::string(certify::kClaimsFile), std::string(certify::kPoolsFile)}));
  }
  if (!choices.roles.empty()) {
    TWILL_TRY_VOID(write_file(choices.roles, driver::roles_of(planned.outcome, choices.roles)));
  }
  if (!choices.html.is_wanted()) return {};
  driver::PageParts parts;
  parts.command = "twill schedule";
  parts.certificate = choices.certificate;
  return write_page(choices.html, choices.request, planned, parts);
}

/// Prints the answer and writes the files. A schedule that breaks a rule is not written.
int show(const ScheduleChoices& choices, const driver::PlannedLoop& planned,
         const certify::Files& certificate) {
  const report::Outcome& outcome = planned.outcome;
  warn(outcome.warnings);
  const int code = exit_code_of(outcome);
  if (code == kUnverified) {
    std::fputs("twill: error: verification failed; this is a bug of ours, please report it\n",
               stderr);
    for (const std::string& violation : outcome.violations) {
      std::fprintf(stderr, "  %s\n", violation.c_str());
    }
    return code;
  }
  if (const auto written = write_files(choices, planned, certificate); !written) {
    return refuse(written.error());
  }
  if (choices.output == "-" || choices.roles == "-" || choices.html.is_all()) return code;
  const report::Printing printing{choices.trips, choices.timing, choices.verbose};
  const auto printed = print(choices.json ? report::schedule_json(outcome, printing)
                                          : report::summary(outcome, printing));
  return printed ? code : refuse(printed.error());
}

int run_all(const ScheduleChoices& choices) {
  Batch batch{choices.batch,   choices.output, choices.jobs,
              choices.request, choices.given,  {choices.trips, false, false}};
  return run_batch(batch);
}

/// The answer, and its certificate if one is requested.
Result<driver::PlannedLoop> answer(const ScheduleChoices& choices, certify::Files& certificate) {
  const bool certifies = !choices.certificate.empty();
  if (certifies) {
    TWILL_TRY_VOID(driver::check_certifiable(choices.request));
  }
  TWILL_TRY(driver::PlannedLoop planned, driver::answer_loop(choices.request));
  if (!certifies) return planned;
  TWILL_TRY(driver::Certified certified, driver::certify_outcome(choices.request, planned.outcome));
  end_progress_line();
  warn(certified.warnings);
  certificate = std::move(certified.certificate);
  return planned;
}

int run(ScheduleChoices choices) {
  choices.request.trips = choices.trips;
  if (!choices.batch.empty()) return run_all(choices);
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  certify::Files certificate;
  auto planned = answer(choices, certificate);
  end_progress_line();
  if (!planned) return refuse(planned.error());
  add_ignored(choices.given, choices.request.input, planned->outcome);
  driver::look_for_doors(choices.request, *planned);
  return show(choices, *planned, certificate);
}

/// --alternatives and --alternative, of which only one may be given.
Option add_alternatives_options(Command command, ScheduleChoices& choices, Option certificate) {
  const Option list =
      command
          .add_option("--alternatives", choices.request.alternatives.list,
                      "Also list this many schedules of other structure, best first")
          .whole_number(1, driver::kMostAlternatives);
  add_alternative_option(command, choices.request);
  const Option one = command.get_option("--alternative");
  one.excludes(list, certificate);
  return list;
}

Option add_batch_options(Command command, ScheduleChoices& choices) {
  const Option batch = command.add_option(
      "--batch", choices.batch,
      "Schedule all inputs that this file names, one per line; prints a line of JSON for each");
  command.add_option("--jobs", choices.jobs, "Threads for --batch [all cores]")
      .whole_number(1, 1024)
      .needs(batch);
  return batch;
}

}  // namespace

void add_schedule_command(Command app, Session& session) {
  auto choices = std::make_shared<ScheduleChoices>();
  const Command command = app.add_subcommand("schedule", "Find the fastest schedule of a loop");
  driver::Request& request = choices->request;
  const Option input = command.add_option("INPUT", choices->input,
                                          "TTGIR, .task or .loop file; - reads standard input");
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(command, request);
  add_rate_option(
      command, [choices = choices.get()](machine::Rate rate) { choices->request.rate = rate; },
      "Costs of a kernel: fastest, or slowest under co-run [both; the faster plan is kept]");
  add_normalize_option(command, request);
  command.add_option("--trips", choices->trips, "Also print the cycles of this many iterations")
      .whole_number(1, 1'000'000'000);
  const Option timing =
      command.add_flag("--timing", choices->timing, "Also print the seconds each step took");
  command.add_flag("-v,--verbose", choices->verbose,
                   "Also print candidates, loads, groups, buffers and the steady state");
  add_work_limit_option(command, request,
                        "Units of solver work after which to answer with what is known");
  const Option json =
      command.add_flag("--json", choices->json, "Print JSON instead of the summary");
  command.add_option("-o,--output", choices->output,
                     "Also write the JSON to this file; with --batch, of each to this folder");
  const Option certificate = command.add_option(
      "--certificate", choices->certificate,
      "Also write, to this folder, what `twill check` needs to check the answer");
  certificate.type_name("FOLDER");
  const Option alternatives = add_alternatives_options(command, *choices, certificate);
  const Option page = add_html_options(command, choices->html);
  const Option roles = command.add_option(
      "--roles", choices->roles,
      "Also write the ops' roles and dependences to this file: SVG if its name ends in .svg, "
      "else DOT");
  add_batch_options(command, *choices)
      .excludes(input, timing, json, certificate, alternatives, command.get_option("--alternative"),
                page, roles);
  command.footer(kScheduleFooter);
  command.callback([choices, input, command, &session] {
    check_alternatives(command, choices->request);
    choices->given = command.options_given();
    if (choices->batch.empty() && input.empty()) require("INPUT");
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
