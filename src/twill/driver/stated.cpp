#include "twill/driver/stated.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "twill/driver/propose.h"
#include "twill/problem/problem.h"
#include "twill/tasks/values.h"

namespace twill::driver {
namespace {

using strategy::Strategy;

constexpr std::string_view kSharedMemory = "SMEM";

std::string kib(std::int64_t bytes) {
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

tl::unexpected<Diagnostic> refuse_stated(const char* code, const Location& where,
                                         const std::string& message, std::string hint) {
  return tasks::fail_task(code, {where}, message, std::move(hint));
}

const machine::Memory* shared_memory_of(const machine::Machine& machine) {
  const auto found = std::find_if(machine->memories.begin(), machine->memories.end(),
                                  [](const auto& it) { return it.name == kSharedMemory; });
  return found == machine->memories.end() ? nullptr : &*found;
}

/// Share of the memory for a limit. Half a byte is added, so that rounding down gives the limit.
double share_for(double limit, double capacity) { return std::min(1.0, (limit + 0.5) / capacity); }

/// Whether any pool has a schedule with that share of the memory.
bool leaves_schedule(const Request& request, const Reading& reading, double share) {
  for (const Reading& of_pool : with_share_of_memory(reading, share)) {
    const auto found = propose(request, of_pool, false);
    if (found && usable(found->front().outcome)) return true;
  }
  return false;
}

bool gives_roles(Strategy strategy) {
  return strategy != Strategy::sequential && strategy != Strategy::triton_plain;
}

}  // namespace

Result<void> check_machine(const Request& request, const machine::Machine& machine,
                           const frontend::Stated& stated) {
  if (stated.machine.empty() || stated.machine == machine->name) return {};
  return fail({request.input.name},
              fmt::format("M15: the mapping is for {}, and --machine says {}", stated.machine,
                          machine->name),
              "leave --machine out, or write another mapping");
}

Result<machine::Machine> within_limit(machine::Machine machine,
                                      const frontend::StatedNumber& shared) {
  const machine::Memory* memory = shared_memory_of(machine);
  if (memory == nullptr) return machine;
  const double capacity = memory->capacity.value;
  const auto limit = static_cast<double>(shared.value);
  if (limit > capacity) {
    return refuse_stated(
        "M07", shared.where,
        fmt::format("the mapping gives a CTA {} of shared memory, and {} has {}", kib(shared.value),
                    machine->name, kib(static_cast<std::int64_t>(capacity))),
        "leave the limit out to use all of it");
  }
  return machine::with_share_of_memory(std::move(machine), share_for(limit, capacity));
}

std::optional<Diagnostic> limit_too_small(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome) {
  const auto& shared = reading.kernel->stated.shared;
  if (!shared || outcome.answer.verdict != schedule::Verdict::infeasible) return std::nullopt;
  const std::optional<machine::Machine>& machine = reading.kernel->unlimited;
  if (!machine || shared_memory_of(*machine) == nullptr) return std::nullopt;
  const double capacity = shared_memory_of(*machine)->capacity.value;
  std::int64_t none = shared->value;  // bytes with which there is no schedule
  std::int64_t some = static_cast<std::int64_t>(capacity);
  Reading unlimited = reading;
  unlimited.kernel->machine = *machine;
  unlimited.kernel->extracted = std::make_shared<Extractions>();
  const auto fits = [&](std::int64_t bytes) {
    return leaves_schedule(request, unlimited, share_for(static_cast<double>(bytes), capacity));
  };
  if (!fits(some)) return std::nullopt;
  while (some - none > 1024) {
    const std::int64_t middle = none + (some - none) / 2048 * 1024;
    if (middle <= none || middle >= some) break;
    (fits(middle) ? some : none) = middle;
  }
  std::vector<std::string> tenants;
  for (const problem::Op& op : outcome.problem.ops()) {
    for (const problem::Footprint& it : op.footprint) {
      if (outcome.problem[it.memory].name != kSharedMemory) continue;
      tenants.push_back(fmt::format("{} {}", op.name, it.amount));
    }
  }
  return refuse_stated("M07", shared->where,
                       fmt::format("'limit shared = {}' leaves no schedule, and {} does; bytes of "
                                   "a copy: {}",
                                   kib(shared->value), kib(some), fmt::join(tenants, ", ")),
                       "a larger limit, or smaller tiles")
      .value();
}

Result<void> check_strategy_stated(const Request& request, const Kernel& kernel) {
  const auto& depth = kernel.stated.depth;
  if (depth && request.strategy.depth && *request.strategy.depth != depth->value) {
    return refuse_stated("M12", depth->where,
                         fmt::format("the mapping says 'depth = {}', and --depth {}", depth->value,
                                     *request.strategy.depth),
                         "leave out --depth");
  }
  const auto& stated = kernel.stated.specialize;
  const Strategy strategy = request.strategy.strategy;
  if (!stated || (stated->value != 0) == gives_roles(strategy)) return {};
  if (stated->value != 0) {
    return refuse_stated(
        "M11", stated->where,
        fmt::format("the mapping requires warps with roles of their own, which the "
                    "strategy {} does not have",
                    name_of(strategy)),
        "leave out --strategy, or write `specialize = no`");
  }
  return refuse_stated(
      "M11", stated->where,
      fmt::format("the mapping requires warps without roles, and the strategy {} gives "
                  "them roles",
                  name_of(strategy)),
      "`--strategy triton-plain` and `--strategy sequential` have none");
}

std::optional<int> stated_depth(const Kernel& kernel) {
  if (!kernel.stated.depth) return std::nullopt;
  return static_cast<int>(kernel.stated.depth->value);
}

std::optional<Diagnostic> other_depth(const Kernel& kernel, const plan::Plan& plan) {
  const auto& stated = kernel.stated.depth;
  if (!stated) return std::nullopt;
  std::vector<std::string> short_of, more_than;
  std::set<std::int64_t> depths;
  for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
    const auto& home = plan.values[v].home;
    if (!plan.problem.ops()[v].streaming || !home) continue;
    const plan::Buffer& buffer = plan[*home];
    if (buffer.residence != plan::Residence::shared) continue;
    depths.insert(buffer.depth);
    if (buffer.depth == stated->value) continue;
    (buffer.depth < stated->value ? short_of : more_than)
        .push_back(fmt::format("{} of {}", buffer.depth, plan.problem.ops()[v].name));
  }
  if (short_of.empty() && more_than.empty()) return std::nullopt;
  const bool is_short = !short_of.empty();
  const auto& limit = kernel.stated.shared;
  const std::string room =
      limit ? fmt::format("within 'limit shared = {}'", kib(limit->value)) : "in shared memory";
  return refuse_stated("M12", stated->where,
                       fmt::format("'depth = {}' cannot be kept: {} {}", stated->value,
                                   fmt::join(is_short ? short_of : more_than, ", "),
                                   is_short ? "fit " + room : "are alive in the schedule"),
                       // If all rings have one depth, the plan at hand keeps it.
                       (depths.size() == 1 ? fmt::format("'depth = {}' is kept", *depths.begin())
                                           : std::string(is_short ? "a smaller depth may be kept"
                                                                  : "a larger depth may be kept")) +
                           (!is_short ? ""
                            : limit   ? ", as may smaller tiles, or a larger limit"
                                      : ", as may smaller tiles"))
      .value();
}

}  // namespace twill::driver
