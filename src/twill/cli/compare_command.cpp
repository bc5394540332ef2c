#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "twill/cli/commands.h"
#include "twill/cli/html_option.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/compare_loop.h"

namespace twill::cli {
namespace {

struct CompareChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  std::vector<strategy::Strategy> strategies;
  bool json = false;
  Html html;
};

constexpr const char* kCompareFooter = R"(Examples:
  twill compare kernels/fa_fwd/sm_90/d128.pre.ttgir
  twill compare kernels/fa_fwd/sm_90/d128.pre.ttgir --measured 3100
  twill compare loops/fwd_h2.loop --strategy twill --strategy triton)";

/// kAnswer if any strategy has an answer; else the exit code of the first strategy.
int exit_code_of_comparison(const driver::ComparedLoop& compared) {
  if (!compared.bugs.empty()) return kUnverified;
  const std::vector<report::Compared>& rows = compared.comparison.rows;
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.interval; });
  if (any) return kAnswer;
  const auto verdict = rows.front().verdict;
  if (!verdict) return kBadInput;
  return verdict == schedule::Verdict::infeasible ? kInfeasible : kUndecided;
}

Result<void> write_compared(const CompareChoices& choices, driver::ComparedLoop& compared) {
  driver::PageParts parts;
  parts.command = "twill compare";
  parts.compared = &compared;
  if (!compared.answer) return write_page(choices.html, driver::SimulatedLoop(), parts);
  return write_page(choices.html, choices.request, *compared.answer, parts);
}

int run(CompareChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  if (choices.strategies.empty()) {
    const auto all = strategy::all_strategies();
    choices.strategies.assign(all.begin(), all.end());
  }
  auto compared = driver::compare_loop(choices.request, choices.strategies);
  end_progress_line();
  if (!compared) return refuse(compared.error());
  compared->comparison.measured = choices.html.measured;
  warn(ignored_options(choices.given, choices.request.input));
  warn(compared->warnings);
  for (const std::string& bug : compared->bugs) {
    std::fprintf(stderr, "twill: error: this is a bug of ours, please report it: %s\n",
                 bug.c_str());
  }
  if (choices.html.is_wanted()) {
    if (const auto written = write_compared(choices, *compared); !written) {
      return refuse(written.error());
    }
  }
  if (choices.html.is_all()) return exit_code_of_comparison(*compared);
  const auto printed = print(choices.json ? report::comparison_json(compared->comparison)
                                          : report::to_text(compared->comparison));
  return printed ? exit_code_of_comparison(*compared) : refuse(printed.error());
}

}  // namespace

void add_compare_command(Command app, Session& session) {
  auto choices = std::make_shared<CompareChoices>();
  const Command command = app.add_subcommand(
      "compare", "Compare the schedules that several strategies choose for a loop");
  driver::Request& request = choices->request;
  command.add_option("INPUT", choices->input, "TTGIR, .task or .loop file; - reads standard input")
      .required();
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategies_option(command, choices->strategies);
  add_choice_options(command, request);
  add_work_limit_option(
      command, request,
      "Units of solver work per strategy after which to take the best schedule known");
  command.add_flag("--json", choices->json, "Print JSON instead of the table");
  const Option page = add_html_options(command, choices->html);
  command.get_option("--measured")
      .description("Measured cycles per iteration of the kernel, for a row of its own")
      .remove_needs(page);
  command.footer(kCompareFooter);
  command.callback([choices, command, &session] {
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
