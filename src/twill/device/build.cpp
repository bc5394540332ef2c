#include "twill/device/build.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/device/memory.h"
#include "twill/device/role.h"
#include "twill/device/sketch.h"
#include "twill/ir/user_function.h"

namespace twill::device {
namespace {

/// Registers per thread of an idle warp.
constexpr int kIdleRegisters = 24;

/// Roles in the order of a kernel: the launch's own role, then the roles with most warps.
Result<std::vector<const plan::Role*>> order_of_roles(const Sketch& sketch) {
  const plan::Plan& plan = sketch.plan();
  if (!plan.kernel->launch_role) {
    return sketch.refuse(
        sketch.loop().op,
        "has a plan in which no group has whole warpgroups, as Triton launches them");
  }
  std::vector<const plan::Role*> order;
  for (const plan::Role& role : plan.roles) order.push_back(&role);
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(plan.kernel->launch_role->index());
  std::rotate(order.begin(), first, first + 1);
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](const auto* a, const auto* b) { return a->warps > b->warps; });
  return order;
}

/// Turns the values of the kernel that each role uses into arguments, the same for all roles.
void pass_captures(Kernel& kernel, const std::vector<std::map<ValueId, ValueId>>& used) {
  std::set<ValueId> all;
  for (std::size_t i = 1; i < used.size(); ++i) {
    for (const auto& [value, own] : used[i]) all.insert(value);
  }
  kernel.captures.assign(all.begin(), all.end());
  for (std::size_t i = 1; i < used.size(); ++i) {
    for (const ValueId value : kernel.captures) {
      const auto own = used[i].find(value);
      if (own != used[i].end()) {
        kernel.roles[i].body.arguments.push_back(own->second);
        continue;
      }
      kernel.values.push_back(kernel[value]);
      kernel.roles[i].body.arguments.emplace_back(kernel.values.size() - 1);
    }
  }
}

/// Whether each value that a block reads is among `made`, or made earlier in the block.
bool is_in_order(const Block& block, std::set<ValueId>& made) {
  const auto define = [&](const std::vector<ValueId>& values) {
    made.insert(values.begin(), values.end());
  };
  const auto are_made = [&](const std::vector<ValueId>& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](ValueId value) { return made.contains(value); });
  };
  define(block.arguments);
  for (const Node& node : block.nodes) {
    const auto inner_is_in_order = [&](const Block& inner) { return is_in_order(inner, made); };
    if (!are_made(node.operands)) return false;
    if (!std::all_of(node.blocks.begin(), node.blocks.end(), inner_is_in_order)) return false;
    define(node.results);
  }
  return are_made(block.yields);
}

/// Refuses roles in whose order of steps a value would be read before its definition.
Result<void> check_definitions(const Sketch& sketch, ir::OpId loop, const Kernel& kernel) {
  std::set<ValueId> of_launch(kernel.arguments.begin(), kernel.arguments.end());
  for (const Node& node : kernel.setup) of_launch.insert(node.results.begin(), node.results.end());
  for (const Role& role : kernel.roles) {
    std::set<ValueId> made = of_launch;
    if (is_in_order(role.body, made)) continue;
    return sketch.refuse(loop,
                         "has a plan in which " + role.name +
                             " would read a value of another iteration that it has not kept",
                         "choose another strategy or pool (--strategy, --pool)");
  }
  return {};
}

/// Refuses an op that Triton's text cannot express.
Result<void> check_printable(const Sketch& sketch, ir::OpId id) {
  const ir::Op& op = sketch.program().op(id);
  for (const ir::ValueId result : op.results) {
    const ir::Type type = ir::type_of(sketch.program(), result);
    if (type->kind != ir::TypeKind::tensor) continue;
    for (const std::int64_t extent : type->shape) {  // kernels of tasks may have any
      if ((extent & (extent - 1)) == 0) continue;
      return sketch.refuse(id,
                           fmt::format("makes a tile with an extent of {}, and Triton's tiles have "
                                       "powers of two",
                                       extent),
                           "`twill emit cuda` takes any tile");
    }
  }
  if (const auto user = ir::user_function(op)) {
    return sketch.refuse(
        id, fmt::format("calls '{}' of CUDA C++, which Triton does not compile", user->name),
        "let the mapping take the leaf that says what it means");
  }
  return {};
}

/// Refuses kernels and plans that Triton's text cannot express.
Result<void> check_printable(const Sketch& sketch) {
  const ir::OpId loop = sketch.loop().op;
  for (const ir::OpId id : ir::walk(sketch.program(), sketch.program().module())) {
    TWILL_TRY_VOID(check_printable(sketch, id));
  }
  const plan::Plan& plan = sketch.plan();
  if (plan.kernel->tiles == plan::Tiles::persistent) {
    return sketch.refuse(loop,
                         "has a plan whose CTAs walk the grid, and Triton launches a CTA for "
                         "each tile",
                         "plan one tile per CTA (--tiles one)");
  }
  const auto& how = plan.mechanisms;
  if (std::find(how.begin(), how.end(), plan::Mechanism::tcgen05) != how.end()) {
    return sketch.refuse(loop, "has products of tcgen05, which are not printed as TTGIR yet");
  }
  if (plan.kernel->cluster > 1) {
    return sketch.refuse(loop, "has a plan for clusters, which are not printed as TTGIR");
  }
  return {};
}

/// The plan with a role that stores the boxes of all other roles, if the kernel has stores of
/// boxes.
Result<plan::ProvenPlan> with_stores(const Parts& parts) {
  TWILL_TRY(const Sketch sketch, Sketch::of(parts));
  TWILL_TRY_VOID(check_printable(sketch));
  TWILL_TRY(const auto stores, whole_stores(sketch, parts));
  if (stores.empty()) return parts.plan;
  TWILL_TRY(plan::Plan plan, plan::with_store_role(parts.plan.plan(), stores));
  auto proven = plan::prove(std::move(plan));
  if (proven) return *std::move(proven);
  return sketch.refuse(sketch.per_tile_op(stores.front().per_tile_op),
                       "cannot be stored by one role for all: " + proven.error().front().message);
}

}  // namespace

Result<Kernel> build(const Parts& given) {
  TWILL_TRY(const plan::ProvenPlan stored, with_stores(given));
  const Parts parts{given.program, given.loop, given.origins, stored};
  TWILL_TRY(const Sketch sketch, Sketch::of(parts));
  const plan::Plan& plan = sketch.plan();
  Kernel kernel;
  kernel.plan = stored;
  kernel.function = sketch.function();
  for (const ir::ValueId argument : ir::function_arguments(parts.program, kernel.function)) {
    const ir::Value& value = parts.program.value(argument);
    kernel.arguments.emplace_back(kernel.values.size());
    kernel.values.push_back({value.name, value.type});
  }
  TWILL_TRY(Memory memory, lay_out(sketch, kernel));
  TWILL_TRY(const std::vector<const plan::Role*> order, order_of_roles(sketch));
  const int launch_warps = order.front()->warps;
  {
    const Memory nothing;
    RoleBuilder front(sketch, nothing, kernel, "the launch", launch_warps, false);
    TWILL_TRY(kernel.setup, front.build_front(memory.kept));
  }
  std::move(memory.setup.begin(), memory.setup.end(), std::back_inserter(kernel.setup));
  std::vector<std::map<ValueId, ValueId>> used;
  for (const plan::Role* const role : order) {
    const int registers = plan.warpgroups[role->warpgroup.index()].setmaxnreg;
    RoleBuilder builder(sketch, memory, kernel, role->name, role->warps, !used.empty());
    TWILL_TRY(Block body, builder.build(*role));
    kernel.roles.push_back({role->name, role->warps, registers, std::move(body)});
    used.push_back(builder.captures());
  }
  if (kernel.roles.size() == 1) {  // a plan of one role: Triton requires a second
    kernel.roles.push_back({"IDLE", 1, kIdleRegisters, {}});
    used.emplace_back();
  }
  pass_captures(kernel, used);
  TWILL_TRY_VOID(check_definitions(sketch, parts.loop, kernel));
  RoleBuilder back(sketch, memory, kernel, "the launch", launch_warps, false);
  TWILL_TRY(kernel.finish, back.build_back());
  return kernel;
}

}  // namespace twill::device
