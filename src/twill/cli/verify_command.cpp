#include <memory>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/driver/verify_module.h"
#include "twill/report/verification.h"

namespace twill::cli {
namespace {

int show_proof(const driver::Input& input, std::int64_t at_least) {
  const auto verified = driver::verify_module(input, at_least);
  if (!verified) return refuse(verified.error());
  const auto printed = print(run::to_text(verified->proof, verified->program));
  if (!printed) return refuse(printed.error());
  if (run::is_proven_from_one(verified->proof)) return kAnswer;
  return run::is_broken(verified->proof) ? kUnverified : kNotFollowed;
}

int run_verify(const std::string& path, std::int64_t at_least) {
  const auto input = driver::read_input(path);
  if (!input) return refuse(input.error());
  if (driver::is_module(*input)) return show_proof(*input, at_least);
  const auto outcome = driver::verify_schedule(*input);
  if (!outcome) return refuse(outcome.error());
  warn(outcome->warnings);
  const auto printed = print(report::verification(*outcome));
  return printed ? exit_code_of(*outcome) : refuse(printed.error());
}

}  // namespace

void add_verify_command(Command app, Session& session) {
  auto path = std::make_shared<std::string>();
  auto at_least = std::make_shared<std::int64_t>(0);
  const Command command = app.add_subcommand(
      "verify", "Check a schedule against every rule; prove a module whose warps have roles");
  command
      .add_option(
          "SCHEDULE", *path,
          "A .loop file with a schedule or an order, the JSON of `twill schedule`, or TTGIR "
          "whose warps have roles; - reads standard input")
      .required();
  command
      .add_option(
          "--at-least", *at_least,
          "For TTGIR: only launches in which every loop makes at least this many iterations")
      .capture_default_str()
      .whole_number(0, 64);
  command.footer(
      "Examples:\n"
      "  twill verify s.json                what `twill schedule kernel.ttgir -o s.json` wrote\n"
      "  twill verify mine.loop             a .loop text that ends in a schedule or an order\n"
      "  twill verify k.ttgir               no race, no hang, for every trip count");
  command.callback([path, at_least, &session] {
    session.command = [path, at_least] { return run_verify(*path, *at_least); };
  });
}

}  // namespace twill::cli
