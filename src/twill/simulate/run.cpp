#include "twill/simulate/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/text.h"
#include "twill/problem/problem.h"
#include "twill/support/check.h"

namespace twill::simulate {

Run::Run(const plan::Plan& plan, const Setting& setting)
    : plan_(plan),
      setting_(setting),
      model_(plan, setting.costs != nullptr ? *setting.costs : plan.problem, setting.timing),
      barriers_(plan) {
  for (const plan::Role& role : plan.roles) {
    roles_.emplace_back(role, setting.trips);
    roles_.back().told.assign(plan.roles.size(), 0);
    roles_.back().stored.assign(plan.roles.size(), 0);
    roles_.back().times.windows = std::max<std::int64_t>(0, setting.trips - role.sections.spread);
  }
  units_.resize(plan.problem.units().size());
  for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
    const Task& task = model_[OpId(v)];
    if (task.unit) units_[*task.unit].next.push_back({OpId(v), 0});
  }
  const auto trips = static_cast<std::size_t>(setting.trips);
  times_.assign(plan.problem.ops().size(), std::vector<Times>(trips));
  acquired_.assign(plan.channels.size(), {});
}

bool Run::go() {
  while (true) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t r = 0; r < roles_.size(); ++r) {
        while (step_role(r)) moved = true;
      }
      for (std::size_t u = 0; u < units_.size(); ++u) moved = step_unit(u) || moved;
      if (!barriers_.misuse().empty()) return false;
    }
    if (!advance()) break;
  }
  const auto ended = [](const RoleState& role) { return role.program.at_end(); };
  stuck_ = !std::all_of(roles_.begin(), roles_.end(), ended);
  return !stuck_;
}

Fault Run::fault() const {
  Fault fault;
  fault.message = fmt::format("with {} trip{}, ", setting_.trips, setting_.trips == 1 ? "" : "s") +
                  (stuck_ ? fmt::format("every role waits at cycle {:.0f}", now_)
                          : fmt::format("at cycle {:.0f}: {}", now_, barriers_.misuse()));
  for (std::size_t r = 0; r < roles_.size(); ++r) {
    const Program& at = roles_[r].program;
    fault.roles.push_back(
        plan_.roles[r].name + ": " +
        (at.at_end()
             ? std::string("has ended")
             : fmt::format("{}, iteration {}", plan::to_text(plan_, at.step()), at.iteration())));
  }
  return fault;
}

void Run::arrive(const Phase& phase, const Arrival& arrival) {
  if (barriers_.arrive(phase, arrival)) wake_at(barriers_.completed_at(phase));
}

void Run::record(Track track, double begin, double end, bool stalled, const plan::Step* step,
                 std::optional<OpId> op, std::int64_t iteration) {
  if (setting_.record) spans_.push_back({track, begin, end, stalled, step, op, iteration});
}

tl::expected<Simulation, Fault> simulate(const plan::Plan& plan, const Setting& setting) {
  TWILL_CHECK(setting.trips >= 0 && setting.trips <= kMostTrips, "too many trips");
  Run run(plan, setting);
  if (!run.go()) return tl::unexpected(run.fault());
  return run.result();
}

}  // namespace twill::simulate
