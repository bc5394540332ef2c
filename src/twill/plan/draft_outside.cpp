#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// The roles that hold rows of what leaves the loop, with the number of parts of each.
using Holders = std::map<RoleId, int>;

bool can_hold_tiles(const Draft& draft, RoleId role) {
  const problem::Group& group = draft.plan.problem[draft.plan[role].group];
  return !group.loads && group.registers > 0;
}

int part_of(const Setting& setting, OpId op) {
  return op.index() < setting.parts.size() ? setting.parts[op.index()] : -1;
}

/// By part: the role that holds most of its values. What is only started in a role lies elsewhere.
std::map<int, RoleId> parts_of(const Draft& draft, const Setting& setting,
                               const std::vector<OpId>& uses) {
  std::map<int, std::map<RoleId, int>> registers;
  for (const OpId op : uses) {
    const RoleId role = draft.role[op.index()];
    if (!can_hold_tiles(draft, role)) continue;
    registers[part_of(setting, op)][role] += std::max(1, draft.op(op).registers);
  }
  std::map<int, RoleId> parts;
  for (const auto& [part, roles] : registers) {
    const auto most =
        std::max_element(roles.begin(), roles.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    parts.emplace(part, most->first);
  }
  return parts;
}

/// Without values: every role that can hold tiles.
Holders holders_of(const Draft& draft, const Setting& setting, const std::vector<OpId>& uses) {
  Holders holders;
  for (const auto& [part, role] : parts_of(draft, setting, uses)) ++holders[role];
  if (!holders.empty()) return holders;
  for (std::size_t r = 0; r < draft.plan.roles.size(); ++r) {
    if (can_hold_tiles(draft, RoleId(r))) holders[RoleId(r)] = 1;
  }
  return holders;
}

/// The roles whose copies need it for their addresses.
Holders copiers_of(const Draft& draft, const Around& around) {
  Holders holders;
  for (const OpId copy : around.copies) holders[draft.role[copy.index()]] = 1;
  return holders;
}

/// Values that leave the loop in another role than the one that needs them: nobody hands them over.
void note_strays(Draft& draft, const Setting& setting) {
  std::set<std::string> strays;
  for (const Around& around : setting.around) {
    const std::map<int, RoleId> parts = parts_of(draft, setting, around.uses);
    for (const OpId op : around.uses) {
      const auto holder = parts.find(part_of(setting, op));
      const bool held = holder != parts.end() && holder->second == draft.role[op.index()];
      if (!held) strays.insert(draft.op(op).name);
    }
  }
  if (strays.empty()) return;
  draft.plan.notes.push_back(fmt::format(
      "what leaves the loop in another role than its rows, and is handed over by no step: {}",
      fmt::join(strays, ", ")));
}

/// The role that starts copies into residents: the first of the load group's, else the first there
/// is.
RoleId loader_of(const Draft& draft) {
  for (std::size_t r = 0; r < draft.plan.roles.size(); ++r) {
    if (draft.plan.problem[draft.plan.roles[r].group].loads) return RoleId(r);
  }
  return RoleId(0);
}

BufferId add_buffer(Draft& draft, Buffer buffer) {
  buffer.resident = true;
  draft.plan.buffers.push_back(std::move(buffer));
  draft.alive.emplace_back(0, 0);
  return BufferId(draft.plan.buffers.size() - 1);
}

/// Staging for a role's share of whatever it stores; what it stores follows each other.
class Staging {
 public:
  explicit Staging(Draft& draft) : draft_(draft) {}

  BufferId of(RoleId role, const std::string& memory, Amount bytes) {
    const auto known = made_.find(role);
    if (known != made_.end()) {
      Buffer& buffer = draft_.plan.buffers[known->second.index()];
      buffer.size = std::max(buffer.size, bytes);
      return known->second;
    }
    Buffer buffer;
    buffer.name = "stored." + draft_.plan[role].name;
    buffer.memory = memory;
    buffer.size = bytes;
    buffer.staging = true;
    return made_.emplace(role, add_buffer(draft_, std::move(buffer))).first->second;
  }

 private:
  Draft& draft_;
  std::map<RoleId, BufferId> made_;
};

/// Tensor memory around the loop is in no step's hands: what is there before, and when what is left
/// there is done.
void note_tensor_memory(Draft& draft, const Setting& setting) {
  std::set<BufferId> around;
  for (std::size_t b = 0; b < draft.plan.buffers.size(); ++b) {
    if (draft.plan.buffers[b].initial > 0) around.insert(BufferId(b));
  }
  for (const Around& it : setting.around) {
    for (const OpId op : it.uses) {
      if (const auto home = draft.home(op)) around.insert(*home);
    }
  }
  std::vector<std::string> names;
  for (const BufferId buffer : around) {
    const Buffer& it = draft.plan[buffer];
    if (it.residence == Residence::tensor) names.push_back(it.name);
  }
  if (names.empty()) return;
  draft.plan.notes.push_back(fmt::format(
      "not proven: that {} in tensor memory is there before the loop, and done when what "
      "follows the loop reads it; no step orders that",
      fmt::join(names, ", ")));
}

/// A cluster is for loads that its CTAs share, and for CTAs that walk the tiles side by side.
void settle_cluster(Draft& draft) {
  Kernel& kernel = *draft.plan.kernel;
  auto& mechanisms = draft.plan.mechanisms;
  const bool shares =
      std::find(mechanisms.begin(), mechanisms.end(), Mechanism::tma_multicast) != mechanisms.end();
  if (kernel.tiles == Tiles::persistent && kernel.cluster > 1 && shares) return;
  if (kernel.cluster > 1) {
    draft.plan.notes.push_back(kernel.tiles == Tiles::persistent
                                   ? "no cluster: its CTAs would share no load"
                                   : "no cluster: a CTA does not walk tiles");
  }
  kernel.cluster = 1;
  std::replace(mechanisms.begin(), mechanisms.end(), Mechanism::tma_multicast, Mechanism::tma_load);
}

}  // namespace

std::optional<std::string> bound_to_one_tile(const Plan& plan) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.residence == Residence::registers) continue;
    const bool filled = std::any_of(
        plan.kernel->around.begin(), plan.kernel->around.end(), [&](const Outside& outside) {
          return std::find(outside.buffers.begin(), outside.buffers.end(), BufferId(b)) !=
                 outside.buffers.end();
        });
    if (buffer.residence == Residence::tensor || buffer.initial > 0 ||
        (buffer.resident && !filled)) {
      return buffer.name;
    }
  }
  return std::nullopt;
}

Result<void> make_outside(Draft& draft, const Setting& setting) {
  std::vector<BufferId> residents;
  for (const Buffer& resident : setting.residents) residents.push_back(add_buffer(draft, resident));
  draft.plan.kernel = setting.kernel;
  if (!setting.kernel) return {};
  Staging staging(draft);
  for (const Around& around : setting.around) {
    const Holders holders =
        around.only_copies ? copiers_of(draft, around) : holders_of(draft, setting, around.uses);
    Outside outside = around.what;
    for (const std::size_t read : around.reads) outside.reads.push_back(residents[read]);
    if (is_copy(outside.mechanism)) {
      outside.roles = {loader_of(draft)};
      outside.buffers = {residents[*around.resident]};
      draft.plan.kernel->around.push_back(std::move(outside));
      continue;
    }
    int parts = 0;
    for (const auto& [role, count] : holders) parts += count;
    for (const auto& [role, count] : holders) {
      outside.roles.push_back(role);
      if (outside.mechanism != Mechanism::bulk_store) continue;
      outside.buffers.push_back(staging.of(role, around.memory, around.bytes * count / parts));
    }
    for (const auto& [role, count] : copiers_of(draft, around)) {
      const auto at = std::lower_bound(outside.roles.begin(), outside.roles.end(), role);
      if (at == outside.roles.end() || *at != role) outside.roles.insert(at, role);
    }
    draft.plan.kernel->around.push_back(std::move(outside));
  }
  note_strays(draft, setting);
  const auto bound = bound_to_one_tile(draft.plan);
  if (bound && draft.plan.kernel->tiles == Tiles::persistent) {
    draft.plan.kernel->tiles = Tiles::one_per_cta;
    draft.plan.notes.push_back(fmt::format(
        "one tile per CTA: no step of the plan empties or fills {} from tile to tile", *bound));
  }
  note_tensor_memory(draft, setting);
  settle_cluster(draft);
  return {};
}

namespace {

Step step_of(StepKind kind, By by = By::every_warp) {
  Step step;
  step.kind = kind;
  step.instance = {Instance::From::tile, 0};
  step.by = by;
  return step;
}

Step channel_step(StepKind kind, ChannelId channel, By by) {
  Step step = step_of(kind, by);
  step.channel = channel;
  return step;
}

Step outside_step(StepKind kind, std::size_t outside, By by = By::every_warp) {
  Step step = step_of(kind, by);
  step.outside = outside;
  return step;
}

/// Whether wgmma may still be under way when a role comes out of the loop.
bool leaves_groups(const Plan& plan, const Role& role) {
  for (std::int64_t trips = 0; trips <= 2 * role.sections.spread + 3; ++trips) {
    int flying = 0;
    for (const PlacedStep& placed : unrolled(role.sections, trips)) {
      const Step& step = *placed.step;
      const bool starts =
          step.kind == StepKind::issue && plan.mechanisms[step.op->index()] == Mechanism::wgmma;
      if (starts) ++flying;
      if (step.kind == StepKind::drain_groups && step.queue == Mechanism::wgmma) {
        flying = std::min(flying, step.pending);
      }
    }
    if (flying > 0) return true;
  }
  return false;
}

/// Writes the steps of all roles.
class TileWriter {
 public:
  explicit TileWriter(Draft& draft) : draft_(draft), plan_(draft.plan) {}

  Result<void> run() {
    add_channels();
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      write_before(RoleId(r));
      write_after(RoleId(r));
      if (plan_.kernel->cluster == 1) continue;
      plan_.roles[r].tail.push_back(step_of(StepKind::leave));
      plan_.roles[r].tail.back().instance = {Instance::From::last, -1};
    }
    return number_barriers();
  }

 private:
  struct Filled {
    std::size_t outside;
    ChannelId channel;
    std::vector<RoleId> consumers;
  };

  const std::vector<Outside>& around() const { return plan_.kernel->around; }

  /// The roles that touch a resident.
  std::set<RoleId> readers_of(BufferId buffer) const {
    std::set<RoleId> roles;
    for (const OpId op : plan_[buffer].readers) roles.insert(draft_.role[op.index()]);
    for (const Outside& outside : around()) {
      const auto& reads = outside.reads;
      if (std::find(reads.begin(), reads.end(), buffer) == reads.end()) continue;
      roles.insert(outside.roles.begin(), outside.roles.end());
    }
    return roles;
  }

  void add_channels() {
    for (std::size_t i = 0; i < around().size(); ++i) {
      const Outside& outside = around()[i];
      if (!is_copy(outside.mechanism)) continue;
      const BufferId buffer = outside.buffers.front();
      const std::set<RoleId> readers = readers_of(buffer);
      Channel channel;
      channel.name = plan_[buffer].name;
      channel.counts = Channel::Counts::tiles;
      channel.producer = outside.roles.front();
      channel.consumers.assign(readers.begin(), readers.end());
      const bool threads = outside.mechanism == Mechanism::cp_async;
      channel.full_arrivals = threads ? 32 * plan_[channel.producer].warps : 1;
      for (const RoleId role : channel.consumers) channel.empty_arrivals += plan_[role].warps;
      if (channel.consumers.empty()) channel.kind = ChannelKind::signal;
      if (!threads) channel.bytes = plan_[buffer].size;
      channel.buffers = {buffer};
      filled_.push_back({i, ChannelId(plan_.channels.size()), channel.consumers});
      plan_.channels.push_back(std::move(channel));
    }
  }

  static bool has(const std::vector<RoleId>& roles, RoleId role) {
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }

  /// All copies on their way first, then what waits for them; what threads copied is fenced by its
  /// readers.
  void write_before(RoleId role) {
    std::vector<Step>& steps = plan_.roles[role.index()].before;
    for (const Filled& filled : filled_) {
      if (!has(around()[filled.outside].roles, role)) continue;
      const bool threads = around()[filled.outside].mechanism == Mechanism::cp_async;
      const By by = threads ? By::every_warp : By::one_warp;
      if (!filled.consumers.empty()) {
        steps.push_back(channel_step(StepKind::acquire, filled.channel, by));
      }
      if (!threads) steps.push_back(channel_step(StepKind::expect, filled.channel, by));
      steps.push_back(outside_step(StepKind::issue, filled.outside, by));
      steps.back().channel = filled.channel;
    }
    bool fenced = false;
    for (const Filled& filled : filled_) {
      if (!has(filled.consumers, role)) continue;
      steps.push_back(channel_step(StepKind::wait, filled.channel, By::every_warp));
      fenced = fenced || around()[filled.outside].mechanism == Mechanism::cp_async;
    }
    if (fenced) {
      steps.push_back(step_of(StepKind::fence));
      steps.back().fence = Fence::proxy;
    }
    for (std::size_t i = 0; i < around().size(); ++i) {
      const Outside& outside = around()[i];
      const bool here = outside.when == Outside::When::before && has(outside.roles, role);
      if (here && !is_copy(outside.mechanism)) {
        steps.push_back(outside_step(StepKind::compute, i));
      }
    }
  }

  void write_after(RoleId role) {
    Role& what = plan_.roles[role.index()];
    if (leaves_groups(plan_, what)) {
      Step drain = step_of(StepKind::drain_groups);
      drain.queue = Mechanism::wgmma;
      what.after.push_back(drain);
    }
    std::vector<Filled> held;
    for (const Filled& filled : filled_) {
      if (has(filled.consumers, role)) held.push_back(filled);
    }
    release(what, held, 0);
    for (std::size_t i = 0; i < around().size(); ++i) {
      const Outside& outside = around()[i];
      if (outside.when != Outside::When::after || !has(outside.roles, role)) continue;
      if (outside.mechanism == Mechanism::bulk_store) {
        write_store(what, i);
      } else {
        what.after.push_back(outside_step(StepKind::compute, i));
      }
      release(what, held, i + 1);
    }
  }

  /// Gives back the residents that nothing from `next` on reads.
  void release(Role& role, std::vector<Filled>& held, std::size_t next) {
    std::erase_if(held, [&](const Filled& filled) {
      const BufferId buffer = around()[filled.outside].buffers.front();
      for (std::size_t i = next; i < around().size(); ++i) {
        const Outside& later = around()[i];
        const auto& reads = later.reads;
        const bool needed = later.when == Outside::When::after &&
                            std::find(reads.begin(), reads.end(), buffer) != reads.end();
        if (needed) return false;
      }
      role.after.push_back(channel_step(StepKind::release, filled.channel, By::every_warp));
      return true;
    });
  }

  /// The staging buffer is free when what left through it last has been read; then all warps write
  /// it, and when all of it is there one starts the copy.
  static void write_store(Role& role, std::size_t outside) {
    Step drain = step_of(StepKind::drain_groups, By::one_warp);
    drain.queue = Mechanism::bulk_store;
    drain.reads_only = true;
    role.after.push_back(drain);
    if (role.warps > 1) role.after.push_back(step_of(StepKind::rendezvous));
    role.after.push_back(outside_step(StepKind::stage, outside));
    role.after.push_back(step_of(StepKind::fence));
    role.after.back().fence = Fence::proxy;
    if (role.warps > 1) role.after.push_back(step_of(StepKind::rendezvous));
    role.after.push_back(outside_step(StepKind::issue, outside, By::one_warp));
    drain.instance = {Instance::From::last, -1};
    drain.reads_only = false;
    if (std::find(role.tail.begin(), role.tail.end(), drain) == role.tail.end()) {
      role.tail.push_back(drain);
    }
  }

  Result<void> number_barriers() {
    int next = 1;
    for (const Channel& channel : plan_.channels) next = std::max(next, channel.named_barrier + 1);
    for (const Role& role : plan_.roles) next = std::max(next, role.named_barrier + 1);
    for (Role& role : plan_.roles) {
      const bool meets = std::any_of(role.after.begin(), role.after.end(), [](const Step& step) {
        return step.kind == StepKind::rendezvous;
      });
      if (meets && role.named_barrier < 0) role.named_barrier = next++;
    }
    if (next <= plan_.limits.named_barriers) return {};
    return fail({}, fmt::format("the plan needs {} named barriers, but there are only {} beside 0",
                                next - 1, plan_.limits.named_barriers - 1));
  }

  Draft& draft_;
  Plan& plan_;
  std::vector<Filled> filled_;
};

}  // namespace

Result<void> make_tile_steps(Draft& draft) {
  if (!draft.plan.kernel) return {};
  return TileWriter(draft).run();
}

}  // namespace twill::plan
