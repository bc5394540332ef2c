#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/proof/run.h"

namespace twill::plan {
namespace proof {

void Findings::add(std::string rule, std::string message, std::vector<std::string> trace) {
  if (full()) return;
  findings_.push_back({std::move(rule), std::move(message), std::move(trace)});
}

Tables::Tables(const Plan& what) : plan(what) {
  role.resize(plan.problem.ops().size());
  for (std::size_t v = 0; v < role.size(); ++v) {
    if (const auto found = role_of(plan, OpId(v))) role[v] = *found;
  }
  for (const Role& r : plan.roles) spread = std::max(spread, r.sections.spread);
  for (const Channel& channel : plan.channels) deepest = std::max(deepest, channel.depth);
  for (const Buffer& buffer : plan.buffers) deepest = std::max(deepest, buffer.depth);
  for (const problem::Dependence& d : plan.problem.dependences()) {
    farthest = std::max(farthest, d.distance);
  }
}

std::int64_t check_run(const Tables& tables, std::int64_t trips, std::int64_t tiles,
                       Findings& findings) {
  Run run(tables, trips, tiles, findings);
  const auto events = static_cast<std::int64_t>(run.events().size());
  if (!findings.empty() || !run.settle(findings)) return events;
  check_barriers(run, findings);
  if (findings.empty()) check_data(run, findings);
  return events;
}

namespace {

/// Every op has a place in the steady state of exactly one role.
void check_owners(const Plan& plan, Findings& findings) {
  std::vector<int> owners(plan.problem.ops().size(), 0);
  for (const Role& role : plan.roles) {
    for (const Step& step : role.sections.steady) {
      const bool runs = step.kind == StepKind::compute || step.kind == StepKind::issue;
      if (runs) ++owners[step.op->index()];
    }
  }
  for (std::size_t v = 0; v < owners.size(); ++v) {
    if (owners[v] == 1) continue;
    findings.add("ownership", fmt::format("{} is done {} times per iteration in the steady state",
                                          plan.problem.ops()[v].name, owners[v]));
  }
}

/// Of a persistent kernel, tiles enough to come back to the first slot of the deepest ring.
std::int64_t tiles_of(const Tables& tables, std::int64_t trips) {
  const bool persistent =
      tables.plan.kernel && tables.plan.kernel->tiles != Tiles::one_per_cta;
  return persistent && trips > 0 ? 3 + tables.deepest / trips : 1;
}

}  // namespace
}  // namespace proof

tl::expected<ProvenPlan, std::vector<Finding>> prove(Plan plan) {
  proof::Findings findings;
  const auto refuse = [&] { return tl::unexpected(std::move(findings).take()); };
  proof::check_well_formed(plan, findings);
  if (!findings.empty()) return refuse();
  proof::check_owners(plan, findings);
  if (findings.empty()) proof::check_static(plan, findings);
  if (!findings.empty()) return refuse();
  const proof::Tables tables(plan);
  const auto bound = proof::trips_to_check(tables);
  const std::int64_t last = bound.value_or(tables.spread + 2 * std::int64_t{tables.deepest} + 4);
  ProofSize size{last, 0};
  for (std::int64_t trips = 0; trips <= last; ++trips) {
    size.events += proof::check_run(tables, trips, proof::tiles_of(tables, trips), findings);
    if (!findings.empty()) return refuse();
    if (size.events > kMostEvents) {
      findings.add("well-formed", fmt::format("the plan is too large to prove: {} trips take more "
                                              "than {} events",
                                              last, kMostEvents));
      return refuse();
    }
  }
  if (!bound) {
    findings.add("deadlock", "in the steady state some step waits for its own future");
    return refuse();
  }
  return ProvenPlan(std::move(plan), size);
}

}  // namespace twill::plan
