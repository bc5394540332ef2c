#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/html_option.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/cli/rate_option.h"
#include "twill/driver/explain.h"

namespace twill::cli {
namespace {

struct ExplainChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  machine::Rate rate = machine::Rate::fastest;
  std::optional<std::int64_t> ii;
  std::int64_t work_limit = static_cast<std::int64_t>(explain::Limits().work_limit);
  bool json = false;
  Html html;
};

constexpr const char* kExplainFooter = R"(Examples:
  twill explain loops/fwd_b1.loop
  twill explain loops/fwd_b1.loop --ii 1500
  twill explain kernels/fa_fwd/sm_90/d128.pre.ttgir --json)";

int exit_code_of_explanation(explain::Status status) {
  switch (status) {
    case explain::Status::held:
    case explain::Status::reachable:
      return kAnswer;
    case explain::Status::infeasible:
      return kInfeasible;
    case explain::Status::undecided:
      break;
  }
  return kUndecided;
}

Result<void> write_explained(const ExplainChoices& choices, driver::Explained& explained) {
  driver::PageParts parts;
  parts.command = "twill explain";
  parts.explained = &explained;
  if (!explained.answer) return write_page(choices.html, driver::SimulatedLoop(), parts);
  return write_page(choices.html, choices.request, *explained.answer, parts);
}

int run(ExplainChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  warn(ignored_options(choices.given, choices.request.input));
  explain::Limits limits;
  limits.work_limit = static_cast<std::uint64_t>(choices.work_limit);
  limits.progress = explain_progress_line();
  // The explanation uses the schedule that the same limit gives.
  auto& of_answer = choices.request.limits.work_limit;
  of_answer = std::max(of_answer, limits.work_limit);
  choices.request.limits.progress = progress_line();
  auto explained = driver::explain_loop(choices.request, choices.rate, choices.ii, limits);
  end_progress_line();
  if (!explained) return refuse(explained.error());
  warn(explained->warnings);
  if (choices.html.is_wanted()) {
    if (const auto written = write_explained(choices, *explained); !written) {
      return refuse(written.error());
    }
  }
  const explain::Heading& heading = explained->heading;
  const explain::Explanation& explanation = explained->explanation;
  if (choices.html.is_all()) return exit_code_of_explanation(explanation.status);
  const auto printed = print(choices.json ? explain::explanation_json(heading, explanation)
                                          : explain::explanation_text(heading, explanation));
  return printed ? exit_code_of_explanation(explanation.status) : refuse(printed.error());
}

}  // namespace

void add_explain_command(Command app, Session& session) {
  auto choices = std::make_shared<ExplainChoices>();
  const Command command =
      app.add_subcommand("explain", "Why a loop is no faster, and what would make it faster");
  driver::Request& request = choices->request;
  command
      .add_option(
          "INPUT", choices->input,
          "TTGIR, .task or .loop file, or the JSON of `twill schedule`; - reads standard input")
      .required();
  command
      .add_option("--ii", choices->ii,
                  "Explain why not this II [one less than the least that is possible]")
      .whole_number(1, problem::kLargestTotal);
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_rate_option(
      command, [choices = choices.get()](machine::Rate rate) { choices->rate = rate; },
      "Costs: fastest, or slowest under co-run [fastest]");
  command
      .add_option("--work-limit", choices->work_limit,
                  "Units of solver work after which to answer with what is known")
      .whole_number(1, std::numeric_limits<std::int64_t>::max());
  command.add_flag("--json", choices->json, "Print JSON instead of text");
  add_html_options(command, choices->html);
  command.footer(kExplainFooter);
  command.callback([choices, command, &session] {
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
