#include "twill/driver/show_tasks.h"

#include "twill/driver/input.h"
#include "twill/driver/levels.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/tasks/flow.h"
#include "twill/tasks/partitions.h"

namespace twill::driver {
namespace {

std::string flows_of(const tasks::Tree& tree) {
  const tasks::Flow analysed = tasks::analyse(tree);
  const tasks::Flow vectorized = tasks::vectorize(analysed);
  return "# with a copy wherever a task wants a tensor elsewhere than its caller has it\n" +
         tasks::to_string(analysed) + "\n# parts of rows as one call\n" +
         tasks::to_string(vectorized) + "\n# without copies that need not be made\n" +
         tasks::to_string(tasks::eliminate(vectorized));
}

}  // namespace

Result<std::string> show_tasks(const std::string& path, TasksView view, const std::string& map,
                               const std::string& machine) {
  TWILL_TRY(Input input, read_text(path));
  if (input.name.ends_with(".map") && view == TasksView::text && map.empty()) {
    TWILL_TRY(const auto mappings, tasks::read_mappings(input.text, input.name));
    return tasks::print_mappings(mappings);
  }
  TWILL_TRY(const frontend::TaskSource source, task_source(std::move(input), map));
  if (view == TasksView::kernel) return kernel_of_tasks(source, machine);
  TWILL_TRY(const frontend::MappedTasks program, frontend::read_mapped(source));
  if (view == TasksView::text) return tasks::print_tasks(program.text);
  if (view == TasksView::partitions) return tasks::partitions_text(program.text.library);
  if (view == TasksView::variants) {
    TWILL_TRY(const auto compared, frontend::variants_of(source, program));
    return tasks::to_string(compared);
  }
  TWILL_TRY(const tasks::Levels levels, levels_for(machine, program.mapping));
  TWILL_TRY(const tasks::Tree tree, frontend::tree_of(source, program, levels));
  if (view == TasksView::mapping) return tasks::print_mapping(tasks::completed(tree));
  return view == TasksView::flow ? flows_of(tree) : tasks::to_string(tree);
}

}  // namespace twill::driver
