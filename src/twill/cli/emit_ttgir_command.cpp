#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "twill/cli/commands.h"
#include "twill/cli/interruption.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/judge_kernel.h"

namespace twill::cli {
namespace {

struct TtgirChoices {
  std::string input;
  driver::Request request;
  std::string output;
  std::optional<dialect::Spelling> spelling;
  std::string python;  ///< interpreter whose Triton judges the module; empty: an estimate decides
  bool text_first = false;  ///< print the module before its checks
};

constexpr const char* kTtgirFooter = R"(Examples:
  twill emit ttgir kernels/gemm/sm_90/tma_128x256x64.pre.ttgir -o gemm.ttgir
  python3 -c 'import triton; from triton.backends.compiler import GPUTarget; \
    triton.compile("gemm.ttgir", target=GPUTarget("cuda", 90, 32))')";

/// Compiles with a progress line for the waiting user; an interrupt ends the process here.
Result<std::vector<std::string>> judge_with(const std::string& python, const std::string& text) {
  const auto judge = [&] {
    const Interruption interruption;
    return driver::judge_module(text, python,
                                [show = waiting_line("compiling with Triton, to judge it")] {
                                  show();
                                  return Interruption::caught() == 0;
                                });
  };
  auto compiled = judge();
  end_progress_line();
  if (const int signal = Interruption::caught()) end_by(signal);
  if (!compiled) return tl::unexpected(std::move(compiled).error());
  return std::move(compiled->refusals);
}

int run_ttgir(TtgirChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  if (const auto read = read_schedule(choices.request); !read) return refuse(read.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  driver::TtgirChoice choice{choices.spelling};
  if (choices.text_first) {
    choice.take_unchecked = [](const std::string& text) {
      end_progress_line();
      return print_last(text);
    };
  }
  if (!choices.python.empty()) {
    const auto python = gate::find_program(gate::places_of_environment(), choices.python);
    if (!python) {
      return refuse({{choices.python}, "no such program", "", "name a Python that has Triton"});
    }
    choice.judge = [found = python->string()](const std::string& text) {
      return judge_with(found, text);
    };
  }
  const auto emitted = driver::emit_ttgir(choices.request, choice);
  end_progress_line();
  if (!emitted) return refuse(emitted.error());
  if (!emitted->planned.plan) return show_missing_plan(emitted->planned);
  warn(emitted->planned.outcome.warnings);
  if (!emitted->broken.empty()) {
    std::fprintf(stderr,
                 "twill: error: the printed roles do not work together, and %s; this is a bug of "
                 "ours, please report it\n%s",
                 choices.text_first ? "their text must not be used" : "nothing is written",
                 emitted->broken.c_str());
    return kOurBug;
  }
  for (const std::string& note : emitted->notes) {
    std::fprintf(stderr, "twill: note: %s\n", note.c_str());
  }
  if (choices.text_first) return kAnswer;
  const auto written =
      choices.output.empty() ? print(emitted->text) : write_file(choices.output, emitted->text);
  return written ? kAnswer : refuse(written.error());
}

}  // namespace

void add_emit_ttgir(Command emit, Session& session) {
  auto choices = std::make_shared<TtgirChoices>();
  const Command command = emit.add_subcommand(
      "ttgir", "The planned kernel as warp-specialized TTGIR, which Triton compiles and runs");
  driver::Request& request = choices->request;
  command.add_option("INPUT", choices->input, "TTGIR or .task file; - reads standard input")
      .required();
  add_planning_options(command, request);
  add_ctas_option(command, request);
  const Option output =
      command.add_option("-o,--output", choices->output, "File for the module [standard output]");
  command
      .add_flag("--text-first", choices->text_first,
                "Print the module before its checks, and end standard output; only exit code 0 "
                "allows its use")
      .excludes(output);
  const std::map<std::string, dialect::Spelling> spellings = {{"3.6", dialect::Spelling::v3_6},
                                                              {"3.7", dialect::Spelling::v3_6},
                                                              {"3.8", dialect::Spelling::v3_8},
                                                              {"3.9", dialect::Spelling::v3_8}};
  command.add_choice(
      "--triton", spellings,
      [choices](dialect::Spelling spelling) { choices->spelling = spelling; },
      "Triton that will read the module [the one that made the input]");
  command.add_option(
      "--python", choices->python,
      "Python whose Triton compiles the module: where it spills or serializes products, plan again "
      "with registers to spare [an estimate decides]");
  command.footer(kTtgirFooter);
  command.callback([choices, command, &session] {
    check_planning(command, choices->request);
    session.command = [choices] { return run_ttgir(*choices); };
  });
}

}  // namespace twill::cli
