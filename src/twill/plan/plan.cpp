#include "twill/plan/plan.h"

#include <algorithm>

#include "twill/support/check.h"

namespace twill::plan {
namespace {

void place(std::vector<PlacedStep>& out, const std::vector<Step>& steps, std::int64_t window,
           std::int64_t trips) {
  for (const Step& step : steps) {
    out.push_back({&step, iteration_of(step.instance, window, trips)});
  }
}

}  // namespace

Kernel::Kernel() = default;
Kernel::Kernel(const Kernel&) = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(const Kernel&) = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

Plan::Plan(const Plan&) = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(const Plan&) = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

bool is_asynchronous(Mechanism mechanism) {
  return mechanism != Mechanism::threads && mechanism != Mechanism::scoreboard;
}

bool is_bulk_load(Mechanism mechanism) {
  return mechanism == Mechanism::tma_load || mechanism == Mechanism::tma_multicast;
}

bool is_copy(Mechanism mechanism) {
  return is_bulk_load(mechanism) || mechanism == Mechanism::cp_async;
}

Amount bytes_brought(const Plan& plan, OpId load) {
  const auto home = plan.values[load.index()].home;
  if (!home) return 0;
  const auto& footprint = plan.problem[load].footprint;
  return footprint.empty() ? plan[*home].size : footprint.front().amount;
}

int cluster_size(const Plan& plan) { return plan.kernel ? plan.kernel->cluster : 1; }

std::optional<RoleId> role_of(const Plan& plan, OpId op) {
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    for (const Step& step : plan.roles[r].sections.steady) {
      const bool runs = step.kind == StepKind::compute || step.kind == StepKind::issue;
      if (runs && step.op == op) return RoleId(r);
    }
  }
  return std::nullopt;
}

std::int64_t iteration_of(const Instance& instance, std::int64_t window, std::int64_t trips) {
  switch (instance.from) {
    case Instance::From::first:
      return instance.offset;
    case Instance::From::window:
      return window + instance.offset;
    case Instance::From::last:
      return trips + instance.offset;
    case Instance::From::tile:
      break;
  }
  TWILL_CHECK(false, "unknown anchor");
}

std::optional<BufferId> read_from(const Plan& plan, OpId value, OpId reader) {
  const Value& where = plan.values[value.index()];
  if (!where.home) return std::nullopt;
  const Buffer& home = plan[*where.home];
  const bool elsewhere =
      home.residence == Residence::registers && home.role != role_of(plan, reader);
  return elsewhere ? where.staged : where.home;
}

void unroll(const Sections& sections, std::int64_t trips, std::vector<PlacedStep>& steps) {
  steps.clear();
  if (trips < sections.spread) {
    place(steps, sections.short_trips[static_cast<std::size_t>(trips)], 0, trips);
    return;
  }
  place(steps, sections.prologue, 0, trips);
  for (std::int64_t window = sections.spread; window < trips; ++window) {
    place(steps, sections.steady, window, trips);
  }
  place(steps, sections.drain, trips, trips);
}

std::vector<PlacedStep> unrolled(const Sections& sections, std::int64_t trips) {
  std::vector<PlacedStep> steps;
  unroll(sections, trips, steps);
  return steps;
}

}  // namespace twill::plan
