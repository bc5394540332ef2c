#pragma once

#include <functional>
#include <string>

#include "twill/cli/command.h"
#include "twill/driver/driver.h"
#include "twill/driver/plan_loop.h"

/// One `add_*_command` per subcommand, each in the file of that name. The function declares the
/// options and sets `Session::command` to the action of the command: options in, driver call, text
/// out.
namespace twill::cli {

/// Exit codes, documented in docs/reference/cli.md.
enum ExitCode : int {
  kAnswer = 0,  ///< optimal, or feasible with a stated gap
  kOurBug = 1,
  kUsage = 2,
  kBadInput = 3,     ///< also an input or output that cannot be read or written
  kInfeasible = 4,   ///< proven: no schedule at any initiation interval
  kUndecided = 5,    ///< the work limit or the memory ended the search before there was an answer
  kUnverified = 6,   ///< the schedule breaks a rule, or a certificate is not accepted
  kNoPlan = 7,       ///< there is a schedule, but no plan carries it out
  kNotFollowed = 8,  ///< a module has forms that no proof is known for
};

struct Session {
  std::function<int()> command;
};

void add_schedule_command(Command app, Session& session);
void add_bound_command(Command app, Session& session);
void add_explain_command(Command app, Session& session);
void add_verify_command(Command app, Session& session);
void add_check_command(Command app, Session& session);
void add_evaluate_command(Command app, Session& session);
void add_loop_command(Command app, Session& session);
void add_emit_command(Command app, Session& session);
void add_emit_cuda(Command emit, Session& session);   ///< below `emit`
void add_emit_ttgir(Command emit, Session& session);  ///< below `emit`
void add_machines_command(Command app, Session& session);
void add_plan_command(Command app, Session& session);
void add_simulate_command(Command app, Session& session);
void add_compare_command(Command app, Session& session);
void add_run_command(Command app, Session& session);
void add_tasks_command(Command app, Session& session);
void add_tune_command(Command app, Session& session);

/// The exit code for an outcome: kNoPlan if the outcome is known to have no plan.
int exit_code_of(const report::Outcome& outcome);

/// Says on standard error why a loop has no plan, and returns the exit code for that. Precondition:
/// the loop has no plan.
int show_missing_plan(const driver::PlannedLoop& planned);

/// Prints the diagnostic on standard error and returns `kBadInput`.
int refuse(const Diagnostic& diagnostic);

/// Prints each as a warning on standard error.
void warn(const std::vector<Diagnostic>& warnings);

}  // namespace twill::cli
