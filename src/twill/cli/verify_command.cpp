#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/driver/verify_module.h"
#include "twill/report/verification.h"

namespace twill::cli {
namespace {

int show_proof(const driver::Input& input) {
  const auto verified = driver::verify_module(input);
  if (!verified) return refuse(verified.error());
  const auto printed = print(run::to_text(verified->proof, verified->program));
  if (!printed) return refuse(printed.error());
  if (!verified->proof.every_trip) return kNotFollowed;
  return run::is_proven(verified->proof) ? kAnswer : kUnverified;
}

int run_verify(const std::string& path) {
  const auto input = driver::read_input(path);
  if (!input) return refuse(input.error());
  if (driver::is_module(*input)) return show_proof(*input);
  const auto outcome = driver::verify_schedule(*input);
  if (!outcome) return refuse(outcome.error());
  warn(outcome->warnings);
  const auto printed = print(report::verification(*outcome));
  return printed ? exit_code_of(*outcome) : refuse(printed.error());
}

}  // namespace

void add_verify_command(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("verify", "Check a schedule against every rule, by simulation");
  command
      ->add_option("SCHEDULE", *path,
                   "A .loop file with a schedule or an order, or the JSON of `twill schedule`; - "
                   "reads standard input")
      ->required();
  command->footer(
      "Examples:\n"
      "  twill verify s.json                what `twill schedule kernel.ttgir -o s.json` wrote\n"
      "  twill verify mine.loop             a .loop text that ends in a schedule or an order");
  command->callback([path, &session] { session.command = [path] { return run_verify(*path); }; });
}

}  // namespace twill::cli
