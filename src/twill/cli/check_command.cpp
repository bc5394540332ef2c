#include <memory>
#include <string>

#include <fmt/format.h>

#include "twill/certify/tiles.h"
#include "twill/cli/commands.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/driver/tune.h"

namespace twill::cli {
namespace {

/// "interval.proof:17: does not follow by unit propagation"
std::string text_of(const certify::Rejection& it) {
  if (it.line == 0) return fmt::format("{}: {}", it.file, it.reason);
  return fmt::format("{}:{}: {}", it.file, it.line, it.reason);
}

struct CheckChoices {
  std::string path;
  std::string input;
  std::string machine;
  driver::InputChoice choice;
};

Result<certify::Checked> check(const CheckChoices& choices) {
  TWILL_TRY(const certify::Files files, driver::read_certificate(choices.path));
  if (files.contains(std::string(certify::kTilesFile))) {
    if (choices.input.empty()) return certify::check_tiles(files);
    return driver::check_tiles(files, choices.input, choices.choice.map, choices.machine);
  }
  if (choices.input.empty()) return certify::check_files(files);
  TWILL_TRY(const driver::Input input,
            driver::read_input(choices.input, choices.choice, choices.machine));
  return driver::check_certificate(files, input, choices.machine);
}

int run(const CheckChoices& choices) {
  const std::string& path = choices.path;
  const auto checked = check(choices);
  if (!checked) return refuse(checked.error());
  std::string text = fmt::format("{}: {}\n", path, checked->rejection ? "rejected" : "accepted");
  if (checked->rejection) text += "  " + text_of(*checked->rejection) + "\n";
  for (const std::string& line : checked->lines) text += "  " + line + "\n";
  const auto printed = print(text);
  if (!printed) return refuse(printed.error());
  return checked->rejection ? kUnverified : kAnswer;
}

}  // namespace

void add_check_command(Command app, Session& session) {
  auto choices = std::make_shared<CheckChoices>();
  const Command command = app.add_subcommand(
      "check",
      "Check a certificate: constraints anew, every proof step, the schedule by simulation");
  command
      .add_option("FOLDER", choices->path,
                  "Folder that `--certificate FOLDER` of `twill schedule` or `twill tune` wrote")
      .required();
  const Option input = command.add_option("--input", choices->input,
                                          "The TTGIR, .task or .loop file that the answer is "
                                          "about: its problems are posed anew and compared");
  command
      .add_option("--machine", choices->machine,
                  "Name (see `twill machines`) or JSON file [by the TTGIR's target]")
      .needs(input);
  add_kernel_option(command, choices->choice.kernel).needs(input);
  add_map_option(command, choices->choice.map).needs(input);
  command.footer(
      "Examples:\n"
      "  twill schedule kernel.ttgir --certificate proof && twill check proof\n"
      "  twill check proof --input kernel.ttgir --machine h200    also: it is about this kernel");
  command.callback([choices, &session] { session.command = [choices] { return run(*choices); }; });
}

}  // namespace twill::cli
