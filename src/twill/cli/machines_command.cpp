#include <memory>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/report/machines.h"

namespace twill::cli {
namespace {

Result<std::string> text_of(const std::string& name) {
  if (name.empty()) {
    TWILL_TRY(const auto machines, driver::shipped_machines());
    return report::machine_list(machines);
  }
  TWILL_TRY(const auto machine, driver::find_machine(name));
  return machine::describe(machine);
}

int run_machines(const std::string& name) {
  const auto text = text_of(name);
  if (!text) return refuse(text.error());
  const auto printed = print(*text);
  return printed ? kAnswer : refuse(printed.error());
}

}  // namespace

void add_machines_command(Command app, Session& session) {
  auto name = std::make_shared<std::string>();
  const Command command = app.add_subcommand("machines", "List the known GPUs, or show one");
  command.add_option("NAME", *name, "A name from the list, or a machine JSON file");
  command.footer(
      "Examples:\n"
      "  twill machines\n"
      "  twill machines h200        units, pipes, pools and cost rules, each number with its "
      "source");
  command.callback([name, &session] { session.command = [name] { return run_machines(*name); }; });
}

}  // namespace twill::cli
