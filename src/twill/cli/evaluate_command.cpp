#include <memory>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/report/summary.h"
#include "twill/report/verification.h"

namespace twill::cli {
namespace {

int run_evaluate(const std::string& path) {
  const auto input = driver::read_input(path);
  if (!input) return refuse(input.error());
  const auto outcome = driver::evaluate_order(*input);
  if (!outcome) return refuse(outcome.error());
  warn(outcome->warnings);
  const auto printed = print(report::verification(*outcome) + "\n" + report::picture(*outcome));
  return printed ? exit_code_of(*outcome) : refuse(printed.error());
}

}  // namespace

void add_evaluate_command(Command app, Session& session) {
  auto path = std::make_shared<std::string>();
  const Command command = app.add_subcommand(
      "evaluate", "The least initiation interval of a given order, stages and groups");
  command
      .add_option("FILE", *path,
                  "A .loop file with an order (or a schedule, whose order is taken); - reads "
                  "standard input")
      .required();
  command.footer(
      "Examples:\n"
      "  twill evaluate loops/published/fa3_forward_hopper.loop    the order of Flash Attention 3");
  command.callback([path, &session] { session.command = [path] { return run_evaluate(*path); }; });
}

}  // namespace twill::cli
