#include "twill/frontend/tasks/lower.h"

#include <utility>

#include "twill/frontend/tasks/lowering.h"
#include "twill/support/spelling.h"
#include "twill/tasks/check.h"

namespace twill::frontend {

Result<std::string> lower_tasks(const tasks::Tree& tree, const std::string& file_name) {
  if (tree.machine != "h100" && tree.machine != "h200") {
    return fail({file_name}, "M15: kernels of tasks are made for h100 and h200, not for " +
                                 in_quotes(tree.machine));
  }
  return from_tasks::Lowering(tree, file_name).run();
}

Result<tasks::Tree> tree_of_text(const tasks::TaskText& text, const std::string& file_name,
                                 const std::string& mapping) {
  TWILL_TRY_VOID(tasks::check(text.library));
  if (text.library.tasks.empty()) return fail({file_name}, "there is no task in it");
  std::vector<std::string_view> names;
  for (const tasks::Mapping& it : text.mappings) {
    names.push_back(it.name);
    if (mapping.empty() || it.name == mapping) return tasks::instantiate(text.library, it);
  }
  if (!mapping.empty()) {
    return fail({file_name}, "there is no mapping " + in_quotes(mapping),
                did_you_mean(mapping, names));
  }
  const tasks::TaskValue& first = text.library.tasks[0];
  return tasks::instantiate(text.library, {"derived", first.name, "h200", {}, {}, first.where});
}

Result<std::string> lower_task_text(const std::string& text, const std::string& file_name,
                                    const std::string& mapping) {
  TWILL_TRY(const tasks::TaskText read, tasks::read_tasks(text, file_name));
  auto lowered = [&]() -> Result<std::string> {
    TWILL_TRY(const tasks::Tree tree, tree_of_text(read, file_name, mapping));
    return lower_tasks(tree, file_name);
  }();
  if (!lowered && lowered.error().source_line.empty()) {
    lowered.error().source_line = line_of(text, lowered.error().location.line);
  }
  return lowered;
}

}  // namespace twill::frontend
