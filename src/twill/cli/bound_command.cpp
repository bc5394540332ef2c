#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/whole_number.h"
#include "twill/driver/limits.h"

namespace twill::cli {
namespace {

struct BoundChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options
  std::optional<std::int64_t> measured;
  bool json = false;
};

constexpr const char* kBoundFooter = R"(Examples:
  twill bound loops/fwd_b2.loop
  twill bound kernels/fa_fwd/sm_90/d128.pre.ttgir --measured 2950
  twill bound loops/published/fa3_forward_hopper.loop)";

int exit_code_of_limits(const report::Limits& limits) {
  for (const report::RatedBounds& end : limits.ends) {
    if (end.infeasible) return kInfeasible;
  }
  return limits.given && !limits.given->violations.empty() ? kUnverified : kAnswer;
}

int run(BoundChoices choices) {
  auto input = driver::read_input(choices.input);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  warn(ignored_options(choices.given, choices.request.input));
  auto limits = driver::bound_loop(choices.request);
  if (!limits) return refuse(limits.error());
  limits->measured = choices.measured;
  warn(limits->warnings);
  const auto printed =
      print(choices.json ? report::limits_json(*limits) : report::limits_text(*limits));
  return printed ? exit_code_of_limits(*limits) : refuse(printed.error());
}

}  // namespace

void add_bound_command(CLI::App& app, Session& session) {
  auto choices = std::make_shared<BoundChoices>();
  CLI::App* command =
      app.add_subcommand("bound", "How fast a loop can possibly be, and who says so");
  driver::Request& request = choices->request;
  command
      ->add_option("INPUT", choices->input,
                   "TTGIR or .loop file, or the JSON of `twill schedule`; - reads standard input")
      ->required();
  add_kernel_options(*command, request, "Only this pool of warp groups [all of the machine]");
  command
      ->add_option("--measured", choices->measured,
                   "Cycles per iteration that were measured, to compare with")
      ->transform(whole_number(std::int64_t{1}, problem::kLargestTotal));
  command->add_flag("--json", choices->json, "Print JSON instead of text");
  command->footer(kBoundFooter);
  command->callback([choices, command, &session] {
    choices->given = options_given(*command);
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
