#include "twill/driver/tiles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/levels.h"
#include "twill/ir/operands.h"
#include "twill/ir/program.h"
#include "twill/tasks/holes.h"

namespace twill::driver {
namespace {

/// Multiplications and additions of the products of an iteration; 0 without products.
double work_of(const Kernel& kernel) {
  double work = 0;
  for (const ir::OpId id : ir::walk(kernel.program, kernel.choice.loop)) {
    const auto product = ir::mma_operands(kernel.program.op(id));
    if (!product) continue;
    const auto& a = ir::type_of(kernel.program, product->a)->shape;
    const ir::Type sum = ir::type_of(kernel.program, product->accumulator);
    work += 2.0 * static_cast<double>(ir::element_count(sum)) * static_cast<double>(a.back());
  }
  return work;
}

}  // namespace

Result<HoledTasks> read_holed(const std::string& path, const std::string& map,
                              const std::string& machine) {
  TWILL_TRY(Input input, read_text(path));
  if (!is_tasks(input)) {
    return fail({input.name}, "only mappings of .task files have holes to fill",
                "docs/reference/tasks.md");
  }
  HoledTasks out;
  TWILL_TRY(out.source, task_source(std::move(input), map));
  TWILL_TRY(out.mapped, frontend::read_open(out.source));
  TWILL_TRY(out.levels, levels_for(machine, out.mapped.mapping));
  return out;
}

Result<std::vector<std::vector<std::int64_t>>> choices_of(const tasks::Mapping& mapping) {
  const std::vector<tasks::Hole> holes = tasks::holes_of(mapping);
  std::size_t count = 1;
  for (const tasks::Hole& hole : holes) {
    count *= hole.values.size();
    if (count <= tasks::kMostChoices) continue;
    return tasks::fail_task("M13", hole.where,
                            fmt::format("the holes up to '{}' have more than {} choices together",
                                        hole.name, tasks::kMostChoices),
                            "give some of them fewer values, as in 64..256 by 32");
  }
  std::vector<std::vector<std::int64_t>> choices(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (auto hole = holes.rbegin(); hole != holes.rend(); ++hole) {
      choices[i].push_back(hole->values[rest % hole->values.size()]);
      rest /= hole->values.size();
    }
    std::reverse(choices[i].begin(), choices[i].end());
  }
  return choices;
}

Result<Request> request_for(const HoledTasks& tasks, const Request& request,
                            const std::vector<std::int64_t>& values) {
  frontend::MappedTasks mapped = tasks.mapped;
  mapped.mapping = tasks::filled(tasks.mapped.mapping, values);
  TWILL_TRY(const tasks::Tree tree, frontend::tree_of(tasks.source, mapped, tasks.levels));
  Request out = request;
  out.input.name = tasks.source.file;
  TWILL_TRY(out.input.text, frontend::lower_tasks(tree, tasks.source.file));
  return out;
}

Result<PosedChoice> pose_choice(const HoledTasks& tasks, const Request& request,
                                const std::vector<std::int64_t>& values) {
  TWILL_TRY(const Request of_choice, request_for(tasks, request, values));
  TWILL_TRY(const Reading reading, read_once(of_choice));
  TWILL_TRY(PosedKernel posed, pose_kernel(*reading.kernel, of_choice, machine::Rate::fastest));
  return PosedChoice{work_of(*reading.kernel), std::move(posed.pools),
                     reading.kernel->machine->name, reading.kernel->machine->digest};
}

}  // namespace twill::driver
