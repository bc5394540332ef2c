#include <nlohmann/json.hpp>

#include "twill/plan/json.h"
#include "twill/schedule/loop_text.h"

namespace twill::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson name_or_null(const Plan& plan, const std::optional<BufferId>& buffer) {
  return buffer ? OrderedJson(plan[*buffer].name) : OrderedJson(nullptr);
}

OrderedJson role_names(const Plan& plan, const std::vector<RoleId>& roles) {
  OrderedJson names = OrderedJson::array();
  for (const RoleId role : roles) names.push_back(plan[role].name);
  return names;
}

OrderedJson op_names(const Plan& plan, const std::vector<OpId>& ops) {
  OrderedJson names = OrderedJson::array();
  for (const OpId op : ops) names.push_back(plan.problem[op].name);
  return names;
}

/// Writes a step, without members that have default values.
OrderedJson step_json(const Plan& plan, const Step& step) {
  OrderedJson json = {{"do", name_of(step.kind)},
                      {"from", name_of(step.instance.from)},
                      {"offset", step.instance.offset}};
  if (step.op) json["op"] = plan.problem[*step.op].name;
  if (step.per_tile_op) json["prologue_epilogue_op"] = *step.per_tile_op;
  if (step.channel) json["channel"] = plan[*step.channel].name;
  if (step.by != By::every_warp) json["by"] = name_of(step.by);
  if (step.arrival != Arrival::threads) json["arrival"] = name_of(step.arrival);
  if (step.kind == StepKind::drain_groups) {
    json["queue"] = name_of(step.queue);
    json["pending"] = step.pending;
  }
  if (step.reads_only) json["reads_only"] = true;
  if (step.drains_first) json["drains_first"] = true;
  if (step.kind == StepKind::fence) json["fence"] = name_of(step.fence);
  json["slot"] = step.slot;
  return json;
}

OrderedJson steps_json(const Plan& plan, const std::vector<Step>& steps) {
  OrderedJson list = OrderedJson::array();
  for (const Step& step : steps) list.push_back(step_json(plan, step));
  return list;
}

OrderedJson role_json(const Plan& plan, const Role& role) {
  OrderedJson paths = OrderedJson::array();
  for (const auto& path : role.sections.short_trips) paths.push_back(steps_json(plan, path));
  return {{"name", role.name},
          {"group", plan.problem[role.group].name},
          {"warpgroup", role.warpgroup.index()},
          {"first_warp", role.first_warp},
          {"warps", role.warps},
          {"registers", role.registers},
          {"usable", role.usable},
          {"named_barrier", role.named_barrier},
          {"before", steps_json(plan, role.before)},
          {"spread", role.sections.spread},
          {"prologue", steps_json(plan, role.sections.prologue)},
          {"steady", steps_json(plan, role.sections.steady)},
          {"drain", steps_json(plan, role.sections.drain)},
          {"short_trips", std::move(paths)},
          {"after", steps_json(plan, role.after)},
          {"tail", steps_json(plan, role.tail)}};
}

OrderedJson buffer_names(const Plan& plan, const std::vector<BufferId>& buffers) {
  OrderedJson names = OrderedJson::array();
  for (const BufferId buffer : buffers) names.push_back(plan[buffer].name);
  return names;
}

OrderedJson buffer_json(const Plan& plan, const Buffer& buffer) {
  return {{"name", buffer.name},
          {"residence", name_of(buffer.residence)},
          {"role", buffer.role ? OrderedJson(plan[*buffer.role].name) : OrderedJson(nullptr)},
          {"memory", buffer.memory},
          {"offset", buffer.offset},
          {"size", buffer.size},
          {"depth", buffer.depth},
          {"initial", buffer.initial},
          {"staging", buffer.staging},
          {"invariant", buffer.invariant_buffer},
          {"readers", op_names(plan, buffer.readers)}};
}

OrderedJson channel_json(const Plan& plan, const Channel& channel) {
  return {{"name", channel.name},
          {"kind", name_of(channel.kind)},
          {"counts", name_of(channel.counts)},
          {"producer", plan[channel.producer].name},
          {"consumers", role_names(plan, channel.consumers)},
          {"depth", channel.depth},
          {"full_arrivals", channel.full_arrivals},
          {"empty_arrivals", channel.empty_arrivals},
          {"full_parity", channel.full_parity},
          {"empty_parity", channel.empty_parity},
          {"bytes", channel.bytes},
          {"scope", name_of(channel.scope)},
          {"named_barrier", channel.named_barrier},
          {"buffers", buffer_names(plan, channel.buffers)}};
}

OrderedJson op_json(const Plan& plan, std::size_t index) {
  const problem::Op& op = plan.problem.ops()[index];
  const schedule::Placement& at = plan.schedule.ops[index];
  const Value& value = plan.values[index];
  OrderedJson json = {
      {"name", op.name},
      {"issue_cycle", at.issue},
      {"group", plan.problem[at.group].name},
      {"alternative", op.alternatives[static_cast<std::size_t>(at.alternative)].name},
      {"mechanism", name_of(plan.mechanisms[index])},
      {"home", name_or_null(plan, value.home)},
      {"staged", name_or_null(plan, value.staged)},
      {"format", value.staged ? OrderedJson(name_of(value.format)) : OrderedJson(nullptr)}};
  if (plan.shares.empty()) return json;
  const RowShare& share = plan.shares[index];
  json["part"] = share.part;
  json["row_begin"] = share.row_begin;
  json["row_end"] = share.row_end;
  return json;
}

OrderedJson tensor_json(const Plan& plan, const PerTileOp& per_tile_op) {
  OrderedJson accesses = OrderedJson::array();
  for (const TensorAccess& access : per_tile_op.tensor) {
    accesses.push_back({{"role", plan[access.role].name}, {"buffer", plan[access.buffer].name}});
  }
  return accesses;
}

OrderedJson place_json(const Place& place) {
  return {{"what", place.what}, {"line", place.line}, {"column", place.column}};
}

OrderedJson partial_sums_json(const Plan& plan) {
  OrderedJson sums = OrderedJson::array();
  for (const PartialSum& sum : plan.kernel->partial_sums) {
    OrderedJson ops = OrderedJson::array();
    for (const OpId op : sum.ops) ops.push_back(plan.problem[op].name);
    sums.push_back({{"sum", plan.problem[sum.sum].name},
                    {"ops", std::move(ops)},
                    {"reduction", place_json(sum.reduction)},
                    {"addition", place_json(sum.addition)}});
  }
  return sums;
}

OrderedJson wholes_json(const Plan& plan) {
  OrderedJson wholes = OrderedJson::array();
  for (const Whole& whole : plan.kernel->wholes) {
    OrderedJson json = place_json(whole.place);
    json["placing"] = name_of(whole.placing);
    json["ops"] = op_names(plan, whole.ops);
    json["last"] = op_names(plan, whole.last);
    json["objection"] = whole.objection;
    wholes.push_back(std::move(json));
  }
  return wholes;
}

OrderedJson kernel_json(const Plan& plan) {
  if (!plan.kernel) return nullptr;
  OrderedJson rematerialized = OrderedJson::array();
  for (const Rematerialized& value : plan.kernel->rematerialized) {
    rematerialized.push_back({{"what", value.what},
                              {"line", value.line},
                              {"column", value.column},
                              {"readers", op_names(plan, value.readers)},
                              {"roles", role_names(plan, value.roles)}});
  }
  OrderedJson prologue_epilogue = OrderedJson::array();
  for (const PerTileOp& per_tile_op : plan.kernel->per_tile_ops) {
    OrderedJson json = {{"when", name_of(per_tile_op.when)},
                        {"what", per_tile_op.what},
                        {"line", per_tile_op.line},
                        {"column", per_tile_op.column},
                        {"mechanism", name_of(per_tile_op.mechanism)},
                        {"roles", role_names(plan, per_tile_op.roles)},
                        {"buffers", buffer_names(plan, per_tile_op.buffers)},
                        {"bytes", per_tile_op.bytes},
                        {"reads", buffer_names(plan, per_tile_op.reads)},
                        {"tensor", tensor_json(plan, per_tile_op)},
                        {"writes", per_tile_op.writes}};
    if (per_tile_op.alone) json["alone"] = true;
    for (const RingLoad& load : per_tile_op.loads) {
      OrderedJson made = place_json(load.load);
      made["copy"] = plan.problem[load.copy].name;
      json["loads"].push_back(std::move(made));
    }
    if (per_tile_op.sender) json["sender"] = plan[*per_tile_op.sender].name;
    if (per_tile_op.told) json["told"] = plan[*per_tile_op.told].name;
    prologue_epilogue.push_back(std::move(json));
  }
  const auto launch = plan.kernel->launch_role;
  return {{"name", plan.kernel->name},
          {"loop", plan.kernel->loop},
          {"tiles", name_of(plan.kernel->tiles)},
          {"order", name_of(plan.kernel->order)},
          {"group", plan.kernel->group},
          {"cluster", plan.kernel->cluster},
          {"axis", name_of(plan.kernel->axis)},
          {"same_trips", plan.kernel->same_trips},
          {"prologue_epilogue_ops", std::move(prologue_epilogue)},
          {"rematerialized", std::move(rematerialized)},
          {"partial_sums", partial_sums_json(plan)},
          {"wholes", wholes_json(plan)},
          {"launch_role", launch ? OrderedJson(plan[*launch].name) : OrderedJson(nullptr)}};
}

}  // namespace

std::string plan_json(const Plan& plan) {
  OrderedJson json = {{"format", "twill-plan"}, {"version", kPlanJsonVersion}, {"name", plan.name}};
  json["problem"] = {{"hash", schedule::problem_hash(plan.problem)},
                     {"text", schedule::print_loop(schedule::loop_text_of(plan.problem))}};
  json["initiation_interval"] = plan.schedule.initiation_interval;
  json["limits"] = {{"machine", plan.limits.machine},
                    {"launch_registers", plan.limits.launch_registers},
                    {"register_overhead", plan.limits.register_overhead},
                    {"most_registers", plan.limits.most_registers},
                    {"named_barriers", plan.limits.named_barriers},
                    {"reserved", plan.limits.reserved}};
  json["ops"] = OrderedJson::array();
  for (std::size_t i = 0; i < plan.values.size(); ++i) json["ops"].push_back(op_json(plan, i));
  json["warpgroups"] = OrderedJson::array();
  for (const Warpgroup& group : plan.warpgroups) {
    json["warpgroups"].push_back({{"setmaxnreg", group.setmaxnreg}, {"warps", group.warps}});
  }
  json["buffers"] = OrderedJson::array();
  for (const Buffer& buffer : plan.buffers) json["buffers"].push_back(buffer_json(plan, buffer));
  json["channels"] = OrderedJson::array();
  for (const Channel& c : plan.channels) json["channels"].push_back(channel_json(plan, c));
  json["roles"] = OrderedJson::array();
  for (const Role& role : plan.roles) json["roles"].push_back(role_json(plan, role));
  json["kernel"] = kernel_json(plan);
  json["notes"] = plan.notes;
  return json.dump(1) + "\n";
}

}  // namespace twill::plan
