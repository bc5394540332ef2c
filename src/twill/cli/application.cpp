#include "twill/cli/application.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "twill/cli/commands.h"
#include "twill/cli/help.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/cli/usage.h"

namespace twill::cli {
namespace {

constexpr const char* kAbout =
    "Finds the provably fastest software pipeline and warp specialization of a Tensor Core loop.";

constexpr const char* kFooter = R"(Examples:
  twill schedule loops/fig1.loop                        schedule a loop written by hand
  twill schedule kernels/fa_fwd/sm_90/d128.pre.ttgir    schedule a Triton kernel for its own GPU
  twill explain loops/fwd_b1.loop                       why it is no faster, and what would help
  twill schedule kernel.ttgir --machine h100 -o s.json  the schedule as JSON, for other programs
  twill loop kernel.ttgir --machine h200                the problem as .loop text, to edit
  twill emit smtlib loops/fig1.loop --ii 2 | z3 -in     ask another solver
  twill verify s.json                                   check a schedule of any origin
  twill emit cuda kernel.ttgir -o k && twill run k      the printed kernel, run without a GPU

Exit codes: 0 an answer, 1 a bug of ours, 2 usage, 3 bad input, 4 proven infeasible, 5 undecided
within the work limit or the memory, 6 a schedule or plan that breaks a rule, a certificate that is
rejected, numbers that differ, a compiled kernel that is refused, 7 a schedule that no plan carries
out, 8 a module that is neither proven nor known to break a rule.)";

/// Refuses empty arguments and option values. An empty value is a name that a shell did not fill
/// in, and must not count as an option left out.
void refuse_empty_values(CLI::App& app) {
  const auto say = [](const std::string& value) {
    return value.empty() ? std::string("its value is empty") : std::string();
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(say);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_empty_values(*command);
  }
}

/// The command of that name; null if there is none.
const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// Moves the words of a command before its options: `twill --machine h100 schedule K` means `twill
/// schedule --machine h100 K`.
std::vector<std::string> commands_first(const CLI::App& app, int count, char** arguments) {
  std::vector<std::string> words(arguments, arguments + count);
  const CLI::App* within = &app;
  const auto is_command = [&](const std::string& word) {
    return command_named(*within, word) != nullptr;
  };
  const auto first = std::find_if(words.begin(), words.end(), is_command);
  if (first == words.begin() || !words.front().starts_with('-')) return words;
  auto last = first;
  while (last != words.end() && is_command(*last)) {
    within = command_named(*within, *last);
    ++last;
  }
  const bool asks_of_all =
      words.front() == "--version" || words.front() == "--help" || words.front() == "-h";
  if (!asks_of_all) std::rotate(words.begin(), first, last);
  return words;
}

int run_checked(int argc, char** argv) {
  CLI::App app(kAbout, "twill");
  app.footer(kFooter);
  app.set_version_flag("--version", "twill " TWILL_VERSION);
  app.require_subcommand(1);
  Session session;
  const Command commands(app);
  add_schedule_command(commands, session);
  add_bound_command(commands, session);
  add_explain_command(commands, session);
  add_verify_command(commands, session);
  add_check_command(commands, session);
  add_evaluate_command(commands, session);
  add_loop_command(commands, session);
  add_emit_command(commands, session);
  add_plan_command(commands, session);
  add_simulate_command(commands, session);
  add_compare_command(commands, session);
  add_run_command(commands, session);
  add_tasks_command(commands, session);
  add_tune_command(commands, session);
  add_machines_command(commands, session);
  refuse_empty_values(app);
  format_help(app);
  try {
    std::vector<std::string> words = commands_first(app, argc - 1, argv + 1);
    std::reverse(words.begin(), words.end());  // CLI11 takes words in reverse order
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto shown = print(help_of(innermost(app)));
    return shown ? kAnswer : refuse(shown.error());
  } catch (const CLI::CallForVersion& version) {
    const auto shown = print(std::string(version.what()) + "\n");
    return shown ? kAnswer : refuse(shown.error());
  } catch (const CLI::ParseError& error) {
    const UsageError wrong = usage_error(app, error, argc - 1, argv + 1);
    std::fprintf(stderr, "twill: %s\nhint: %s\n", wrong.message.c_str(), wrong.hint.c_str());
    return kUsage;
  }
  return session.command();
}

}  // namespace

int exit_code_of(const report::Outcome& outcome) {
  if (!outcome.violations.empty()) return kUnverified;
  switch (outcome.answer.verdict) {
    case schedule::Verdict::optimal:
    case schedule::Verdict::feasible:
      return outcome.built && !outcome.built->planned ? kNoPlan : kAnswer;
    case schedule::Verdict::infeasible:
      return kInfeasible;
    case schedule::Verdict::undecided:
      return kUndecided;
  }
  return kOurBug;
}

int refuse(const Diagnostic& diagnostic) {
  std::fputs(to_string(diagnostic).c_str(), stderr);
  return kBadInput;
}

void warn(const std::vector<Diagnostic>& warnings) {
  for (const Diagnostic& warning : warnings) {
    std::fputs(to_string(warning, "warning").c_str(), stderr);
  }
}

int run(int argc, char** argv) {
  // A closed pipe is reported as an error; by default it would end the process silently.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_checked(argc, argv);
  } catch (const std::bad_alloc&) {
    end_progress_line();
    std::fputs("twill: undecided: there is not enough memory for this\n", stderr);
    return kUndecided;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "twill: internal error: %s\n", error.what());
    return kOurBug;
  }
}

}  // namespace twill::cli
