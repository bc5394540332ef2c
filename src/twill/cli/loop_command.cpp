#include <memory>
#include <string>

#include <fmt/format.h>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/normalize_option.h"
#include "twill/cli/output.h"
#include "twill/cli/rate_option.h"
#include "twill/schedule/loop_text.h"
#include "twill/schedule/problem_json.h"

namespace twill::cli {
namespace {

struct LoopChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  machine::Rate rate = machine::Rate::slowest;
  bool json = false;
};

/// Comment that says why the answer to this text may differ from the kernel's answer. Empty if the
/// input was a `.loop` text.
std::string heading_of(const driver::PosedLoop& posed, machine::Rate rate) {
  if (posed.pool.empty()) return "";
  return fmt::format(
      "# One problem of several that `twill schedule` solves for this kernel: pool {}, every op at "
      "its {} rate.\n# A schedule of this text runs at these costs alone, so its figures are not "
      "those of the kernel, where ops share\n# pipes and other pools may be faster. `twill "
      "plan KERNEL --schedule FILE` takes it there.\n",
      posed.pool, rate == machine::Rate::fastest ? "fastest" : "slowest co-run");
}

int run(LoopChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  const auto posed = driver::pose_loop(choices.request, choices.rate);
  if (!posed) return refuse(posed.error());
  warn(ignored_options(choices.given, choices.request.input));
  warn(posed->warnings);
  const auto printed =
      print(choices.json ? schedule::problem_json(posed->problem)
                         : heading_of(*posed, choices.rate) +
                               schedule::print_loop(schedule::loop_text_of(posed->problem)));
  return printed ? kAnswer : refuse(printed.error());
}

}  // namespace

void add_loop_command(Command app, Session& session) {
  auto choices = std::make_shared<LoopChoices>();
  const Command command =
      app.add_subcommand("loop", "Print the scheduling problem of a loop, to read or to edit");
  driver::Request& request = choices->request;
  command.add_option("INPUT", choices->input, "TTGIR, .task or .loop file; - reads standard input")
      .required();
  add_kernel_options(command, request, "Pool of warp groups [the machine's first]");
  add_rate_option(
      command, [choices = choices.get()](machine::Rate rate) { choices->rate = rate; },
      "Costs: fastest, or slowest under co-run [slowest]");
  add_normalize_option(command, request);
  command.add_flag("--json", choices->json, "Print JSON instead of the .loop text");
  command.footer(
      "Examples:\n"
      "  twill loop kernel.ttgir --machine h200 > k.loop\n"
      "  twill loop kernel.ttgir --rate fastest | twill schedule -");
  command.callback([choices, command, &session] {
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
