#include <memory>
#include <string>

#include "twill/certify/tiles.h"
#include "twill/cli/commands.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/tune.h"

namespace twill::cli {
namespace {

struct TuneChoices {
  std::string input;
  std::string output;
  std::string certificate;
  driver::Request request;
};

constexpr const char* kTuneFooter = R"(Examples:
  twill tune gemm.task > gemm.map
  twill tune gemm.task --map holes.map -o gemm.map && twill emit cuda gemm.task --map gemm.map)";

int run_tune(TuneChoices choices) {
  choices.request.input.name = choices.input;
  if (!choices.certificate.empty()) {
    if (const auto can = driver::check_certifiable(choices.request); !can) {
      return refuse(can.error());
    }
  }
  choices.request.limits.progress = progress_line();
  const auto tuned = driver::tune(choices.input, choices.request);
  end_progress_line();
  if (!tuned) return refuse(tuned.error());
  if (!choices.certificate.empty()) {
    const auto files = driver::certify_tiles(choices.request, *tuned);
    if (!files) return refuse(files.error());
    const auto written =
        write_folder(choices.certificate, *files, {std::string(certify::kTilesFile)});
    if (!written) return refuse(written.error());
  }
  const std::string text = driver::to_text(*tuned);
  const bool to_file = !choices.output.empty() && tuned->best;
  const auto written = to_file ? write_file(choices.output, text) : print(text);
  if (!written) return refuse(written.error());
  return tuned->best ? kAnswer : kNoPlan;
}

}  // namespace

void add_tune_command(Command app, Session& session) {
  auto choices = std::make_shared<TuneChoices>();
  const Command command =
      app.add_subcommand("tune", "Fill the holes of a mapping, with the tiles of the fastest loop");
  command.add_option("INPUT", choices->input, ".task file; - reads standard input").required();
  driver::Request& request = choices->request;
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(command, request);
  add_work_limit_option(command, request,
                        "Units of solver work for a choice, after which to take what is known");
  command.add_option("-o,--output", choices->output,
                     "File for the completed mapping [standard output]");
  command
      .add_option("--certificate", choices->certificate,
                  "Write to this folder a certificate that no choice is better, for `twill check`")
      .type_name("FOLDER");
  command.footer(kTuneFooter);
  command.callback(
      [choices, &session] { session.command = [choices] { return run_tune(*choices); }; });
}

}  // namespace twill::cli
