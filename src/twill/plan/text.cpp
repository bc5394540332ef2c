#include "twill/plan/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/buffers.h"
#include "twill/support/text_table.h"

namespace twill::plan {
namespace {

using Align = TextTable::Align;

std::string instance_text(const Instance& instance) {
  switch (instance.from) {
    case Instance::From::first:
      return fmt::format("[{}]", instance.offset);
    case Instance::From::window:
      return instance.offset == 0 ? "[n]" : fmt::format("[n{}]", instance.offset);
    case Instance::From::last:
      return fmt::format("[N{}]", instance.offset);
    case Instance::From::tile:
      return instance.offset == 0 ? "[t]" : fmt::format("[t{:+}]", instance.offset);
  }
  return "";
}

std::string names_of(const Plan& plan, const std::vector<RoleId>& roles) {
  std::vector<std::string> names;
  for (const RoleId role : roles) names.push_back(plan[role].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string warpgroups_text(const Plan& plan) {
  TextTable table({Align::left, Align::left, Align::left}, 2);
  for (std::size_t w = 0; w < plan.warpgroups.size(); ++w) {
    std::vector<std::string> roles;
    for (const Role& role : plan.roles) {
      const std::size_t first = role.warpgroup.index();
      const std::size_t count = static_cast<std::size_t>(role.warps + 3) / 4;
      if (w < first || w >= first + count) continue;
      const std::string warps = role.warps == 1 ? fmt::format("warp {}", role.first_warp)
                                                : fmt::format("warps {}..{}", role.first_warp,
                                                              role.first_warp + role.warps - 1);
      roles.push_back(fmt::format("{} ({}, {} of {} registers)", role.name, warps, role.registers,
                                  role.usable));
    }
    const int registers = plan.warpgroups[w].setmaxnreg;
    table.add({fmt::format("warpgroup {}", w),
               registers > 0 ? fmt::format("setmaxnreg {}", registers) : "",
               fmt::format("{}", fmt::join(roles, ", "))});
  }
  return table.to_string();
}

std::string buffers_text(const Plan& plan) {
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::left, Align::left},
                  2);
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.residence == Residence::registers) continue;
    std::vector<std::string> notes;
    if (buffer.staging) notes.emplace_back("staging");
    if (buffer.invariant_buffer) notes.emplace_back("of the tile");
    if (buffer.initial > 0)
      notes.push_back(fmt::format("{} there before the loop", buffer.initial));
    for (const Buffer& other : plan.buffers) {
      if (&other != &buffer && share_addresses(other, buffer)) {
        notes.push_back("shares with " + other.name);
      }
    }
    table.add({buffer.name, buffer.memory, fmt::format("at {}", buffer.offset),
               fmt::format("{}", buffer.size), fmt::format("x {}", buffer.depth),
               fmt::format("{}", fmt::join(notes, ", "))});
  }
  return table.to_string();
}

std::string channels_text(const Plan& plan) {
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::left}, 2);
  for (const Channel& channel : plan.channels) {
    std::string full =
        channel.kind == ChannelKind::token
            ? fmt::format("barrier {}, {} warps", channel.named_barrier, channel.full_arrivals)
            : fmt::format("full {}", channel.full_arrivals);
    if (channel.bytes > 0) full += fmt::format(" + {} bytes", channel.bytes);
    const std::string empty =
        channel.empty_arrivals > 0
            ? fmt::format("empty {}{}", channel.empty_arrivals,
                          channel.scope == Scope::cluster ? " of all CTAs" : "")
            : "";
    table.add(
        {channel.name, std::string(name_of(channel.kind)),
         fmt::format("{} -> {}", plan[channel.producer].name, names_of(plan, channel.consumers)),
         fmt::format("x {}{}", channel.depth,
                     channel.counts == Channel::Counts::tiles ? ", by tile" : ""),
         empty.empty() ? full : full + ", " + empty});
  }
  return table.to_string();
}

std::string steps_text(const Plan& plan, const std::vector<Step>& steps, bool slots) {
  std::string text;
  for (const Step& step : steps) {
    const bool op = step.kind == StepKind::compute || step.kind == StepKind::issue;
    text += fmt::format("    {:>6} {}{}\n", slots ? std::to_string(step.slot) : "", op ? "" : "  ",
                        to_text(plan, step));
  }
  return text;
}

std::string role_text(const Plan& plan, const Role& role) {
  const Sections& sections = role.sections;
  const bool idle = sections.steady.empty();
  std::string text =
      fmt::format("role {}: {} warp{}, {}\n", role.name, role.warps, role.warps == 1 ? "" : "s",
                  idle ? "prologue and epilogue only"
                       : fmt::format("an iteration spreads over {} window{}", sections.spread + 1,
                                     sections.spread == 0 ? "" : "s"));
  if (!role.before.empty()) text += "  before\n" + steps_text(plan, role.before, false);
  for (std::size_t n = 0; n < sections.short_trips.size(); ++n) {
    if (sections.short_trips[n].empty()) continue;
    text += fmt::format("  N = {}\n{}", n, steps_text(plan, sections.short_trips[n], false));
  }
  if (!sections.prologue.empty())
    text += "  prologue\n" + steps_text(plan, sections.prologue, false);
  if (!idle) {
    text += fmt::format("  steady: n = {} .. N-1\n{}", sections.spread,
                        steps_text(plan, sections.steady, true));
  }
  if (!sections.drain.empty()) text += "  drain\n" + steps_text(plan, sections.drain, false);
  if (!role.after.empty()) text += "  after\n" + steps_text(plan, role.after, false);
  if (!role.tail.empty()) text += "  tail\n" + steps_text(plan, role.tail, false);
  return text;
}

std::string tiles_text(const Kernel& kernel) {
  switch (kernel.tiles) {
    case Tiles::one_per_cta:
      return "one tile per CTA";
    case Tiles::program_loop:
      return "once per tile of the program's own loop";
    case Tiles::persistent:
      break;
  }
  std::string text = kernel.order == TileOrder::row_major
                         ? "persistent, tiles row by row"
                         : fmt::format("persistent, tiles in groups of {}", kernel.group);
  if (kernel.cluster > 1) {
    text += fmt::format(", clusters of {} along {}", kernel.cluster, name_of(kernel.axis));
  }
  return text;
}

std::string buffer_names_text(const Plan& plan, const std::vector<BufferId>& buffers) {
  std::vector<std::string> names;
  for (const BufferId buffer : buffers) names.push_back(plan[buffer].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string partial_sums_text(const Plan& plan) {
  std::vector<std::string> sums;
  for (const PartialSum& sum : plan.kernel->partial_sums) {
    const auto role = role_of(plan, sum.sum);
    sums.push_back(fmt::format("{}{} ({})", role ? plan[*role].name + "'s " : "",
                               plan.problem[sum.sum].name, sum.reduction.what));
  }
  if (sums.empty()) return "";
  return wrap(fmt::format("{}", fmt::join(sums, ", ")), 100,
              "row sums in parts until the loop is over: ", "  ");
}

std::string ring_loads_text(const Plan& plan) {
  std::string text;
  for (const PerTileOp& loop : plan.kernel->per_tile_ops) {
    std::vector<std::string> loads;
    for (const RingLoad& load : loop.loads) {
      loads.push_back(fmt::format("{} as {}", load.load.what, plan.problem[load.copy].name));
    }
    if (loads.empty()) continue;
    text += wrap(fmt::format("{}", fmt::join(loads, ", ")), 100,
                 loop.what + " goes on with rings: ", "  ");
  }
  return text;
}

std::string kernel_text(const Plan& plan) {
  std::string text =
      fmt::format("prologue and epilogue ({}), {}\n", plan.kernel->loop, tiles_text(*plan.kernel));
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::left}, 2);
  for (const PerTileOp& per_tile_op : plan.kernel->per_tile_ops) {
    table.add({std::string(name_of(per_tile_op.when)), per_tile_op.what,
               std::string(name_of(per_tile_op.mechanism)) + (per_tile_op.alone ? ", alone" : ""),
               names_of(plan, per_tile_op.roles) +
                   (per_tile_op.sender ? " for " + plan[*per_tile_op.sender].name : ""),
               buffer_names_text(plan, per_tile_op.buffers)});
  }
  return text + table.to_string() + ring_loads_text(plan) + partial_sums_text(plan);
}

std::string wholes_text(const Plan& plan) {
  TextTable table({Align::left, Align::left}, 2);
  for (const Whole& whole : plan.kernel->wholes) {
    std::vector<std::string> ops;
    for (const OpId op : whole.last) ops.push_back(plan.problem[op].name);
    table.add({whole.place.what,
               !whole.objection.empty()
                   ? whole.objection
                   : fmt::format("{} {}", name_of(whole.placing), fmt::join(ops, ", "))});
  }
  return "done as a whole\n" + table.to_string();
}

std::string rematerialized_text(const Plan& plan) {
  TextTable table({Align::left, Align::left}, 2);
  for (const Rematerialized& value : plan.kernel->rematerialized) {
    table.add({value.what, names_of(plan, value.roles)});
  }
  return "computed in the loop by each role that needs it\n" + table.to_string();
}

}  // namespace

std::string to_text(const Plan& plan, const Step& step) {
  std::string text(name_of(step.kind));
  switch (step.kind) {
    case StepKind::fence:
      return fmt::format("fence {}", name_of(step.fence));
    case StepKind::drain_groups:
      return fmt::format("drain {} to {}{}", name_of(step.queue), step.pending,
                         step.reads_only ? " reading" : "");
    case StepKind::rendezvous:
    case StepKind::leave:
      return text;
    case StepKind::compute:
    case StepKind::issue:
    case StepKind::stage:
      text += fmt::format(
          " {} {}",
          step.op ? plan.problem[*step.op].name : plan.kernel->per_tile_ops[*step.per_tile_op].what,
          instance_text(step.instance));
      if (step.op && plan.problem[*step.op].alternatives.size() > 1) {
        const auto alternative =
            static_cast<std::size_t>(plan.schedule.ops[step.op->index()].alternative);
        text += " by " + plan.problem[*step.op].alternatives[alternative].name;
      }
      if (step.drains_first) text += ", which drains first if it runs";
      if (step.op && plan.mechanisms[step.op->index()] == Mechanism::tma_multicast) {
        text += " into all CTAs";
      }
      return text;
    default:
      break;
  }
  text += fmt::format(" {} {}", plan[*step.channel].name, instance_text(step.instance));
  const bool arrives = step.kind == StepKind::commit || step.kind == StepKind::release;
  if (arrives && step.arrival == Arrival::asynchronous) text += " when tcgen05 is done";
  if (step.kind == StepKind::release && plan[*step.channel].scope == Scope::cluster) {
    text += " in all CTAs";
  }
  return text;
}

std::string to_text(const Plan& plan) {
  std::string text = fmt::format("{}{}: the plan of a schedule of II {} cycles\n{}", plan.name,
                                 plan.limits.machine.empty() ? "" : " on " + plan.limits.machine,
                                 plan.schedule.initiation_interval, warpgroups_text(plan));
  const std::string buffers = buffers_text(plan);
  if (!buffers.empty()) text += "\nbuffers\n" + buffers;
  if (!plan.channels.empty()) text += "\nchannels\n" + channels_text(plan);
  for (const Role& role : plan.roles) text += "\n" + role_text(plan, role);
  if (plan.kernel) text += "\n" + kernel_text(plan);
  if (plan.kernel && !plan.kernel->rematerialized.empty()) {
    text += "\n" + rematerialized_text(plan);
  }
  if (plan.kernel && !plan.kernel->wholes.empty()) text += "\n" + wholes_text(plan);
  for (const std::string& note : plan.notes) text += "\n" + wrap(note, 100, "note: ", "  ");
  return text;
}

}  // namespace twill::plan
