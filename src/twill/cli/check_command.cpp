#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"

namespace twill::cli {
namespace {

/// "interval.proof:17: does not follow by unit propagation"
std::string text_of(const certify::Rejection& it) {
  if (it.line == 0) return fmt::format("{}: {}", it.file, it.reason);
  return fmt::format("{}:{}: {}", it.file, it.line, it.reason);
}

int run(const std::string& path) {
  const auto files = driver::read_certificate(path);
  if (!files) return refuse(files.error());
  const auto checked = certify::check_files(*files);
  if (!checked) return refuse(checked.error());
  std::string text = fmt::format("{}: {}\n", path, checked->rejection ? "rejected" : "accepted");
  if (checked->rejection) text += "  " + text_of(*checked->rejection) + "\n";
  for (const std::string& line : checked->lines) text += "  " + line + "\n";
  const auto printed = print(text);
  if (!printed) return refuse(printed.error());
  return checked->rejection ? kUnverified : kAnswer;
}

}  // namespace

void add_check_command(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a certificate: constraints anew, every proof step, the schedule by simulation");
  command->add_option("FOLDER", *path, "What `twill schedule --certificate FOLDER` wrote")
      ->required();
  command->callback([path, &session] { session.command = [path] { return run(*path); }; });
}

}  // namespace twill::cli
