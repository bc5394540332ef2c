#include <memory>
#include <string>

#include "twill/cli/commands.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/driver/show_tasks.h"

namespace twill::cli {
namespace {

struct TasksChoices {
  std::string input;
  std::string map;
  std::string machine;
  bool mapping = false;
  bool tree = false;
  bool flow = false;
  bool partitions = false;
  bool variants = false;
  bool kernel = false;
};

constexpr const char* kTasksFooter = R"(Examples:
  twill tasks kernels/tasks/gemm.task --tree
  twill tasks kernels/tasks/gemm.task --mapping > gemm.map
  twill emit cuda kernels/tasks/gemm.task -o gemm)";

int run_tasks(const TasksChoices& choices) {
  const driver::TasksView view = choices.tree         ? driver::TasksView::tree
                                 : choices.mapping    ? driver::TasksView::mapping
                                 : choices.partitions ? driver::TasksView::partitions
                                 : choices.variants   ? driver::TasksView::variants
                                 : choices.flow       ? driver::TasksView::flow
                                 : choices.kernel     ? driver::TasksView::kernel
                                                      : driver::TasksView::text;
  const auto shown = driver::show_tasks(choices.input, view, choices.map, choices.machine);
  if (!shown) return refuse(shown.error());
  const auto printed = print(*shown);
  return printed ? kAnswer : refuse(printed.error());
}

}  // namespace

void add_tasks_command(Command app, Session& session) {
  auto choices = std::make_shared<TasksChoices>();
  const Command command = app.add_subcommand("tasks", "Check a .task file and print what it says");
  command
      .add_option("INPUT", choices->input,
                  ".task file, or .map file to be printed; - reads standard input")
      .required();
  const Option tree =
      command.add_flag("--tree", choices->tree, "Print the mapping's instances, derived ones too");
  const Option mapping = command.add_flag(
      "--mapping", choices->mapping, "Print the mapping with all that is derived, as a .map file");
  const Option partitions = command.add_flag("--partitions", choices->partitions,
                                             "Print the parts of tensors: whether they are "
                                             "disjoint and complete, and which calls use them");
  const Option flow = command.add_flag("--flow", choices->flow,
                                       "Print copies, calls and events, after each pass over them");
  const Option variants = command.add_flag(
      "--variants", choices->variants,
      "Run each variant of a task beside the last, which says what the task means");
  variants.excludes(tree, mapping, partitions, flow);
  command
      .add_flag("--kernel", choices->kernel, "Print the TTGIR that the other commands take of it")
      .group("Output")
      .excludes(tree, flow, mapping, partitions, variants);
  flow.excludes(tree, mapping, partitions);
  partitions.excludes(tree, mapping);
  mapping.excludes(tree);
  add_map_option(command, choices->map);
  add_machine_option(command, choices->machine, "the mapping's, else h200");
  command.footer(kTasksFooter);
  command.callback(
      [choices, &session] { session.command = [choices] { return run_tasks(*choices); }; });
}

}  // namespace twill::cli
