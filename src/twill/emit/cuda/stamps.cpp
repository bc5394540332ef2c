#include "twill/emit/cuda/stamps.h"

#include <nlohmann/json.hpp>

#include "twill/emit/cuda.h"

namespace twill::emit {
namespace cuda {

std::vector<StampedSection> stamped_sections(const plan::Plan& plan) {
  std::vector<StampedSection> all;
  std::size_t next = 0;
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    const auto add = [&](std::string name, const std::vector<plan::Step>& steps) {
      all.push_back({plan::RoleId(r), std::move(name), &steps, next});
      next += steps.size();
    };
    const plan::Role& role = plan.roles[r];
    add("before", role.before);
    add("prologue", role.sections.prologue);
    add("steady", role.sections.steady);
    add("drain", role.sections.drain);
    for (std::size_t n = 0; n < role.sections.short_trips.size(); ++n) {
      add("short " + std::to_string(n), role.sections.short_trips[n]);
    }
    add("after", role.after);
    add("tail", role.tail);
  }
  return all;
}

namespace {

using Json = nlohmann::ordered_json;

Json step_json(const plan::Plan& plan, const plan::Step& step) {
  Json json;
  json["kind"] = plan::name_of(step.kind);
  if (step.op) json["op"] = plan.problem[*step.op].name;
  if (step.per_tile_op) json["op"] = plan.kernel->per_tile_ops[*step.per_tile_op].what;
  if (step.channel) json["channel"] = plan[*step.channel].name;
  if (step.kind == plan::StepKind::fence) json["fence"] = plan::name_of(step.fence);
  if (step.kind == plan::StepKind::drain_groups) json["pending"] = step.pending;
  json["offset"] = step.instance.offset;
  json["cycle"] = step.slot;
  return json;
}

}  // namespace
}  // namespace cuda

std::string cuda_stamps(const plan::ProvenPlan& proven, Stamps stamps) {
  const plan::Plan& plan = proven.plan();
  cuda::Json json;
  json["version"] = 1;
  json["stamps"] = stamps == Stamps::steps ? "steps" : "sections";
  json["kernel"] = plan.kernel ? plan.kernel->name : plan.name;
  json["initiation_interval"] = plan.schedule.initiation_interval;
  cuda::Json roles = cuda::Json::array();
  for (const plan::Role& role : plan.roles) {
    roles.push_back({{"name", role.name}, {"first_warp", role.first_warp}});
  }
  json["roles"] = std::move(roles);
  cuda::Json steps = cuda::Json::array();
  for (const cuda::StampedSection& section : cuda::stamped_sections(plan)) {
    for (const plan::Step& step : *section.steps) {
      cuda::Json entry = {{"role", plan[section.role].name}, {"section", section.name}};
      entry.update(cuda::step_json(plan, step));
      steps.push_back(std::move(entry));
    }
  }
  json["steps"] = std::move(steps);
  return json.dump(1) + "\n";
}

}  // namespace twill::emit
