#include <algorithm>

#include <fmt/format.h>

#include "twill/machine/machine.h"
#include "twill/plan/draft.h"
#include "twill/plan/proof.h"

namespace twill::plan {
namespace {

/// Places the pool's groups into hardware warpgroups: one-warp groups share one, in order.
std::vector<std::int64_t> first_warps(std::span<const problem::Group> groups) {
  std::vector<std::int64_t> first;
  std::int64_t next = 0;
  for (const problem::Group& group : groups) {
    const std::int64_t room = (machine::kWarpsPerWarpgroup - next % machine::kWarpsPerWarpgroup) %
                              machine::kWarpsPerWarpgroup;
    if (group.warps > room) next += room;
    first.push_back(next);
    next += group.warps;
  }
  return first;
}

bool has_reader(const Draft& draft, OpId op) {
  return std::any_of(draft.reads.begin(), draft.reads.end(),
                     [&](const Read& read) { return read.value == op && read.carries_value; });
}

Mechanism mechanism_of(const Draft& draft, OpId id) {
  const problem::Op& op = draft.op(id);
  if (!op.asynchronous) return Mechanism::threads;
  if (op.variable_latency) {
    return op.footprint.empty() ? Mechanism::scoreboard : Mechanism::tma_load;
  }
  if (!draft.alternative(id).unit)
    return op.registers > 0 ? Mechanism::scoreboard : Mechanism::bulk_store;
  if (op.registers > 0) return Mechanism::wgmma;
  return has_reader(draft, id) ? Mechanism::tcgen05 : Mechanism::bulk_store;
}

void collect_reads(Draft& draft) {
  for (const problem::Dependence& d : draft.plan.problem.dependences()) {
    const Cycles delay = problem::delay_of(d, draft.op(d.from), draft.alternative(d.from));
    const bool early = d.carries_value && delay < draft.alternative(d.from).latency &&
                       !draft.op(d.from).streaming && !draft.op(d.to).asynchronous;
    const Cycles hold = problem::read_hold_of(d, draft.op(d.to), draft.alternative(d.to));
    draft.reads.push_back({d.from, d.to, d.distance, d.in_place && d.carries_value, d.carries_value,
                           d.through_memory, hold, early});
  }
}

void set_limits(Draft& draft, const Setting& setting) {
  if (setting.machine == nullptr) return;
  const machine::Description& machine = **setting.machine;
  Limits& limits = draft.plan.limits;
  limits.machine = machine.name;
  limits.register_overhead = static_cast<int>(machine.register_overhead.value);
  limits.most_registers = static_cast<int>(machine.registers_per_thread.value);
  limits.named_barriers = static_cast<int>(machine.named_barriers.value);
}

/// Sets the setmaxnreg of each warpgroup, and the registers that the launch gives for this number
/// of warpgroups.
Result<void> set_registers(Draft& draft, const Setting& setting,
                           const std::vector<std::int64_t>& kept) {
  if (setting.machine == nullptr) return {};
  const machine::Pool* pool = setting.machine->pool_named(setting.pool);
  if (pool == nullptr) return fail({}, "the machine has no pool '" + setting.pool + "'");
  for (std::size_t w = 0; w < kept.size(); ++w) {
    const auto hardware = static_cast<std::size_t>(kept[w]);
    if (hardware >= pool->setmaxnreg.size()) {
      return fail({}, fmt::format("the groups of pool {} do not fit its warpgroups", setting.pool));
    }
    draft.plan.warpgroups[w].setmaxnreg = pool->setmaxnreg[hardware];
  }
  const int threads = 128 * static_cast<int>(kept.size());
  draft.plan.limits.launch_registers =
      static_cast<int>((*setting.machine)->register_file.value) / threads / 8 * 8;
  return {};
}

/// Moves the beginning of the interval, and so of all roles' loops, to the issue of a product with
/// the fewest others in flight. Does so only if these are fewer than at the schedule's beginning.
/// Reason: ptxas serializes products in flight over the back edge of a loop whose results other
/// products read (C7514). Moving a whole schedule does not change it.
void begin_between_products(Draft& draft) {
  std::vector<OpId> products;
  for (const Read& read : draft.reads) {
    const bool own = same_queue(draft, read.value, read.reader);
    if (draft.mechanism(read.value) == Mechanism::wgmma && read.carries_value && !own) {
      products.push_back(read.value);
    }
  }
  std::sort(products.begin(), products.end());
  products.erase(std::unique(products.begin(), products.end()), products.end());
  const auto slot_of = [&](OpId op) { return schedule::slot_of(draft.plan.schedule, op); };
  const auto in_flight = [&](Cycles at) {
    return std::count_if(products.begin(), products.end(), [&](OpId op) {
      const Cycles since = at - slot_of(op) + (at < slot_of(op) ? draft.interval : 0);
      return since > 0 && since < draft.alternative(op).latency;
    });
  };
  Cycles begin = 0;
  for (const OpId op : products) {
    if (in_flight(slot_of(op)) < in_flight(begin)) begin = slot_of(op);
  }
  if (begin == 0) return;
  for (schedule::Placement& placement : draft.plan.schedule.ops) {
    placement.issue += draft.interval - begin;
  }
  draft.plan.notes.push_back(
      fmt::format("the interval begins at cycle {} of the schedule's, where fewer products are in "
                  "flight over the back edges of the loops",
                  begin));
}

/// The groups that have an op, and one group for prologue and epilogue ops.
std::vector<bool> groups_at_work(const Plan& plan, const Setting& setting) {
  const auto groups = plan.problem.groups();
  std::vector<bool> used(groups.size(), false);
  for (const schedule::Placement& placement : plan.schedule.ops) {
    used[placement.group.index()] = true;
  }
  const bool tiles = std::any_of(setting.per_tile_ops.begin(), setting.per_tile_ops.end(),
                                 [](const PerTileRequest& request) {
                                   return !is_copy(request.what.mechanism) && !request.only_copies;
                                 });
  if (!tiles) return used;
  std::optional<std::size_t> idle;
  for (std::size_t g = groups.size(); g-- > 0;) {
    if (!can_hold_tiles(groups, GroupId(g))) continue;
    if (used[g]) return used;
    idle = g;
  }
  if (idle) used[*idle] = true;
  return used;
}

tl::unexpected<Diagnostic> too_many_warps(const std::string& group) {
  return fail({},
              fmt::format("with group {} the kernel has more than {} warps, and a CTA has no more",
                          group, kMostWarps),
              "give the loop fewer groups, or groups of fewer warps");
}

Result<void> check_group(const problem::Group& group) {
  if (group.warps > kMostWarps) return too_many_warps(group.name);
  if (group.registers <= kMostOfAnything) return {};
  return fail({},
              fmt::format("group {} has {} registers of each thread; plans go up to {}", group.name,
                          group.registers, kMostOfAnything),
              "give it those of a GPU, at most 255");
}

}  // namespace

bool can_hold_tiles(std::span<const problem::Group> groups, GroupId group) {
  const problem::Group& it = groups[group.index()];
  if (it.loads || it.registers == 0) return false;
  return it.warps > 1 ||
         std::none_of(groups.begin(), groups.end(),
                      [](const problem::Group& other) { return !other.loads && other.warps > 1; });
}

int part_of(const Setting& setting, OpId op) {
  return op.index() < setting.shares.size() ? setting.shares[op.index()].part : -1;
}

bool same_queue(const Draft& draft, OpId first, OpId second) {
  const Mechanism mechanism = draft.mechanism(first);
  return mechanism == draft.mechanism(second) && draft.same_role(first, second) &&
         (mechanism == Mechanism::wgmma || mechanism == Mechanism::tcgen05);
}

int copies_in_turn(const Buffer& buffer) {
  const bool apart = buffer.residence != Residence::registers && buffer.depth > buffer.initial;
  return apart ? buffer.depth - buffer.initial : buffer.depth;
}

bool starts_alone(const Draft& draft, OpId op) {
  const Mechanism mechanism = draft.mechanism(op);
  return is_bulk_load(mechanism) || mechanism == Mechanism::tcgen05 ||
         mechanism == Mechanism::bulk_store;
}

bool updates(const Draft& draft, OpId op, OpId value, Cycles distance) {
  if (distance < 0) return false;
  return std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
    if (!read.in_place || read.reader != op || read.distance > distance) return false;
    if (read.value == value && read.distance == distance) return true;
    return read.value != op && updates(draft, read.value, value, distance - read.distance);
  });
}

Cycles end_of_access(const Draft& draft, OpId op) {
  const problem::Alternative& alternative = draft.alternative(op);
  const Cycles length =
      is_asynchronous(draft.mechanism(op)) ? alternative.latency : alternative.issue;
  return draft.issue(op) + length;
}

namespace {

/// The last cycle of the window in which an op is issued.
Cycles last_of_window(const Draft& draft, OpId op) {
  return (floor_divide(draft.issue(op), draft.interval) + 1) * draft.interval - 1;
}

}  // namespace

Cycles ready(const Draft& draft, OpId op) {
  if (draft.mechanism(op) == Mechanism::threads) return draft.issue(op);
  return draft.issue(op) + std::max<Cycles>(draft.alternative(op).latency, 1);
}

bool ends_with_window(const Draft& draft, OpId op) {
  const auto home = draft.home(op);
  if (draft.mechanism(op) != Mechanism::wgmma || !home) return false;
  if (draft.plan[*home].residence != Residence::registers) return false;
  if (last_of_window(draft, op) == draft.issue(op)) return false;
  return std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
    const Cycles lives =
        draft.issue(read.reader) + read.distance * draft.interval - draft.issue(op);
    return read.value == op && read.carries_value && draft.same_role(op, read.reader) &&
           lives >= draft.interval + (read.in_place ? 1 : 0);
  });
}

Cycles retired(const Draft& draft, OpId op) {
  if (op.index() < draft.late.size() && draft.late[op.index()]) {
    return draft.issue(op) + draft.interval + 1;
  }
  const Cycles end = ready(draft, op);
  return ends_with_window(draft, op) ? std::min(end, last_of_window(draft, op)) : end;
}

Result<void> make_roles(Draft& draft, const Setting& setting) {
  Plan& plan = draft.plan;
  const auto groups = plan.problem.groups();
  const std::vector<bool> used = groups_at_work(plan, setting);
  const std::vector<std::int64_t> first = first_warps(groups);
  std::vector<RoleId> role_of_group(groups.size());
  std::vector<std::int64_t> kept;  // hardware warpgroups of the pool that have a role
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!used[g]) continue;
    TWILL_TRY_VOID(check_group(groups[g]));
    const std::int64_t hardware = first[g] / machine::kWarpsPerWarpgroup;
    const int count =
        (groups[g].warps + machine::kWarpsPerWarpgroup - 1) / machine::kWarpsPerWarpgroup;
    for (std::int64_t h = hardware; h < hardware + count; ++h) {
      if (kept.empty() || kept.back() != h) {
        kept.push_back(h);
        plan.warpgroups.emplace_back();
      }
      const int before = static_cast<int>(h - hardware) * machine::kWarpsPerWarpgroup;
      plan.warpgroups.back().warps +=
          std::min(groups[g].warps - before, machine::kWarpsPerWarpgroup);
    }
    Role role;
    role.name = groups[g].name;
    role.group = GroupId(g);
    role.warpgroup = WarpgroupId(plan.warpgroups.size() - static_cast<std::size_t>(count));
    role.first_warp = static_cast<int>(role.warpgroup.index()) * machine::kWarpsPerWarpgroup +
                      static_cast<int>(first[g] % machine::kWarpsPerWarpgroup);
    role.warps = groups[g].warps;
    if (role.first_warp + role.warps > kMostWarps) return too_many_warps(role.name);
    role.usable = groups[g].registers;
    role_of_group[g] = RoleId(plan.roles.size());
    plan.roles.push_back(std::move(role));
  }
  for (const schedule::Placement& placement : plan.schedule.ops) {
    draft.role.push_back(role_of_group[placement.group.index()]);
  }
  collect_reads(draft);
  for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
    const bool told = v < setting.mechanisms.size() && setting.mechanisms[v];
    plan.mechanisms.push_back(told ? *setting.mechanisms[v] : mechanism_of(draft, OpId(v)));
  }
  begin_between_products(draft);
  set_limits(draft, setting);
  return set_registers(draft, setting, kept);
}

}  // namespace twill::plan
