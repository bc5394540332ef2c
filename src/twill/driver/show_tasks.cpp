#include "twill/driver/show_tasks.h"

#include "twill/driver/input.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/tasks/check.h"
#include "twill/tasks/flow.h"

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

Result<std::string> show_tasks(const std::string& path, TasksView view,
                               const std::string& mapping) {
  TWILL_TRY(const Input input, read_text(path));
  if (view == TasksView::kernel) {
    return frontend::lower_task_text(input.text, input.name, mapping);
  }
  TWILL_TRY(const tasks::TaskText text, tasks::read_tasks(input.text, input.name));
  auto shown = [&]() -> Result<std::string> {
    if (view == TasksView::text) {
      TWILL_TRY_VOID(tasks::check(text.library));
      return tasks::print_tasks(text);
    }
    TWILL_TRY(const tasks::Tree tree, frontend::tree_of_text(text, input.name, mapping));
    return view == TasksView::flow ? flows_of(tree) : tasks::to_string(tree);
  }();
  if (!shown && shown.error().source_line.empty()) {
    shown.error().source_line = line_of(input.text, shown.error().location.line);
  }
  return shown;
}

}  // namespace twill::driver
