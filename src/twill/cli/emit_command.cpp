#include <cstdint>
#include <memory>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/normalize_option.h"
#include "twill/cli/output.h"
#include "twill/cli/rate_option.h"
#include "twill/driver/emit_smtlib.h"

namespace twill::cli {
namespace {

struct EmitChoices {
  std::string input;
  driver::Request request;
  std::vector<std::string> given;  ///< options that were given
  machine::Rate rate = machine::Rate::slowest;
  driver::SmtlibRequest what;
};

constexpr const char* kEmitFooter = R"(Examples:
  twill emit smtlib loops/fwd_b1.loop --ii 1676 | z3 -in       sat: there is a schedule
  twill emit smtlib loops/fwd_b1.loop --ii 1675 | cvc5 -       unsat: there is none
  twill emit smtlib loops/fig1.loop --literal --ii 2 --length 4 | z3 -in)";

int run(EmitChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  const auto emitted = driver::emit_smtlib(choices.request, choices.rate, choices.what);
  if (!emitted) return refuse(emitted.error());
  warn(ignored_options(choices.given, choices.request.input));
  warn(emitted->warnings);
  const auto printed = print(emitted->text);
  return printed ? kAnswer : refuse(printed.error());
}

void add_smtlib(Command emit, Session& session) {
  auto choices = std::make_shared<EmitChoices>();
  const Command command = emit.add_subcommand(
      "smtlib", "The question whether a schedule exists, for SMT solvers (SMT-LIB 2, QF_LIA)");
  driver::Request& request = choices->request;
  driver::SmtlibRequest& what = choices->what;
  command.add_option("INPUT", choices->input, "TTGIR, .task or .loop file; - reads standard input")
      .required();
  command.add_option("--ii", what.ii, "Initiation interval to ask for [the loop's MinII]")
      .whole_number(1, problem::kLargestTotal);
  const Option literal = command.add_flag(
      "--literal", what.literal, "The paper's model, Figures 4 to 6 as printed, instead of ours");
  command
      .add_option("--length", what.length,
                  "Length L of the paper's model [the longest that its search tries at that II]")
      .whole_number(1, problem::kLargestTotal)
      .needs(literal);
  add_normalize_option(command, request);
  add_kernel_options(command, request, "Pool of warp groups [the machine's first]");
  add_rate_option(
      command, [choices = choices.get()](machine::Rate rate) { choices->rate = rate; },
      "Costs: fastest, or slowest under co-run [slowest]");
  command.footer(kEmitFooter);
  command.callback([choices, command, &session] {
    choices->given = command.options_given();
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace

void add_emit_command(Command app, Session& session) {
  const Command emit =
      app.add_subcommand("emit", "Print a loop in a form that other programs take");
  emit.footer(
      "Examples:\n"
      "  twill emit ttgir kernel.ttgir -o planned.ttgir\n"
      "  twill emit cuda kernel.ttgir -o kernel && twill run kernel\n"
      "  twill emit smtlib loops/fig1.loop --ii 2 | z3 -in");
  emit.require_subcommand();
  add_emit_ttgir(emit, session);
  add_emit_cuda(emit, session);
  add_smtlib(emit, session);
}

}  // namespace twill::cli
