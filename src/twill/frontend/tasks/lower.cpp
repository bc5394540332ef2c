#include "twill/frontend/tasks/lower.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/support/spelling.h"
#include "twill/tasks/check.h"
#include "twill/tasks/divisions.h"
#include "twill/tasks/holes.h"
#include "twill/tasks/text.h"

namespace twill::frontend {
namespace {

constexpr std::string_view kTarget = "sm_90";

}  // namespace

Result<std::string> lower_tasks(const tasks::Tree& tree, const std::string& file_name) {
  if (!tree.target.empty() && tree.target != kTarget) {
    return tasks::fail_task("M15", tree.where,
                            fmt::format("kernels of tasks are made for {}, and the machine is {}",
                                        kTarget, tree.target),
                            "h100 and h200 are machines of sm_90");
  }
  // Layouts of tiles that precede the first product follow from that product.
  from_tasks::Products products;
  for (;;) {
    from_tasks::Lowering lowering(tree, file_name, products);
    auto module = lowering.run();
    const bool is_last = !module || lowering.products() == products;
    products = lowering.products();
    if (is_last) return module;
  }
}

namespace {

/// Adds the line of the source to an error without a line.
template <class T>
Result<T> with_line(Result<T> result, const TaskSource& source) {
  if (result || !result.error().source_line.empty()) return result;
  const Location& at = result.error().location;
  const bool in_map = !source.map_file.empty() && at.file == source.map_file;
  result.error().source_line = line_of(in_map ? source.map_text : source.text, at.line);
  return result;
}

/// An empty mapping, without a machine.
tasks::Mapping derived_for(const tasks::TaskValue& task) {
  tasks::Mapping mapping;
  mapping.name = "derived";
  mapping.task = task.name;
  mapping.where = task.where;
  return mapping;
}

Result<tasks::Mapping> mapping_of(const TaskSource& source, const tasks::TaskText& text) {
  std::vector<tasks::Mapping> all = text.mappings;
  const bool apart = !source.map_file.empty();
  if (apart) {
    TWILL_TRY(all, tasks::read_mappings(source.map_text, source.map_file));
  }
  for (const tasks::Mapping& it : all) {
    if (source.mapping.empty() || it.name == source.mapping) return it;
  }
  if (source.mapping.empty()) return derived_for(text.library.tasks[0]);
  return fail({apart ? source.map_file : source.file},
              "there is no mapping " + in_quotes(source.mapping),
              names_like(source.mapping, names_of(all)));
}

Result<MappedTasks> program_of(const TaskSource& source) {
  MappedTasks program;
  if (source.made) {
    program.text = *source.made;
  } else {
    TWILL_TRY(program.text, tasks::read_tasks(source.text, source.file));
  }
  TWILL_TRY_VOID(tasks::check(program.text.library));
  if (program.text.library.tasks.empty()) return fail({source.file}, "there is no task in it");
  TWILL_TRY(program.mapping, mapping_of(source, program.text));
  return program;
}

}  // namespace

Result<MappedTasks> read_mapped(const TaskSource& source) {
  return with_line(program_of(source), source);
}

Result<MappedTasks> read_open(const TaskSource& source) {
  TWILL_TRY(MappedTasks program, read_mapped(source));
  TWILL_TRY(program.mapping,
            with_line(tasks::opened(program.text.library, std::move(program.mapping)), source));
  return program;
}

Result<tasks::Tree> tree_of(const TaskSource& source, const MappedTasks& program,
                            const tasks::Levels& levels) {
  TWILL_TRY(tasks::Tree tree,
            with_line(tasks::instantiate(program.text.library, program.mapping, levels), source));
  TWILL_TRY_VOID(with_line(tasks::check_divisions(tree), source));
  return tree;
}

Result<std::vector<tasks::ComparedVariant>> variants_of(const TaskSource& source,
                                                        const MappedTasks& program) {
  return with_line(tasks::compare_variants(program.text.library), source);
}

Result<std::string> kernel_of(const TaskSource& source, const tasks::Tree& tree) {
  return with_line(lower_tasks(tree, source.file), source);
}

Result<std::string> lower_task_text(const TaskSource& source) {
  TWILL_TRY(const MappedTasks program, read_mapped(source));
  TWILL_TRY(const tasks::Tree tree, tree_of(source, program));
  return kernel_of(source, tree);
}

}  // namespace twill::frontend
