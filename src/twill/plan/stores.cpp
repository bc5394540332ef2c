#include "twill/plan/stores.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/machine/machine.h"
#include "twill/plan/buffers.h"
#include "twill/problem/problem.h"

namespace twill::plan {
namespace {

/// Registers of each thread of a warpgroup that only stores boxes.
constexpr int kStoreRegisters = 24;
/// Bytes after which the 128-byte swizzle repeats.
constexpr Amount kBoxAlignment = 1024;

Step tile_step(StepKind kind, By by = By::every_warp) {
  Step step;
  step.kind = kind;
  step.instance = {Instance::From::tile, 0};
  step.by = by;
  return step;
}

Step box_step(StepKind kind, ChannelId channel, int offset = 0) {
  Step step = tile_step(kind);
  step.channel = channel;
  step.instance.offset = offset;
  return step;
}

/// `name`, or a similar name that no role has.
std::string new_role(const Plan& plan, std::string name) {
  const auto has_it = [&](const Role& role) { return role.name == name; };
  while (std::any_of(plan.roles.begin(), plan.roles.end(), has_it)) name += "_OWN";
  return name;
}

class StoreRole {
 public:
  StoreRole(Plan plan, const std::vector<WholeStore>& stores)
      : plan_(std::move(plan)), stores_(stores) {
    std::sort(stores_.begin(), stores_.end(), [](const WholeStore& a, const WholeStore& b) {
      return a.per_tile_op < b.per_tile_op;
    });
  }

  Result<Plan> make() {
    TWILL_TRY_VOID(add_role());
    std::vector<std::optional<BufferId>> in(stores_.size());
    for (std::size_t i = 0; i < stores_.size(); ++i) in[i] = ring_below(stores_[i]);
    drop_staging(in);
    for (std::size_t i = 0; i < stores_.size(); ++i) add_box(i, in[i]);
    for (std::size_t i = 0; i < stores_.size(); ++i) add_channels(i);
    for (std::size_t i = 0; i < stores_.size(); ++i) write(i);
    learn();
    for (Role& role : plan_.roles) end(role);
    reserve();
    return std::move(plan_);
  }

 private:
  PerTileOp& op_of(std::size_t i) { return plan_.kernel->per_tile_ops[stores_[i].per_tile_op]; }

  bool is_once(std::size_t i) const {
    const auto& ops = plan_.kernel->per_tile_ops;
    return ops[stores_[i].per_tile_op].when == PerTileOp::When::end;
  }

  /// The steps of a role among which a store's steps stand.
  std::vector<Step>& steps_for(std::size_t i, RoleId id) {
    Role& role = plan_.roles[id.index()];
    return is_once(i) ? role.tail : role.after;
  }

  /// Adds the role. Its warp is the first free warp of a warpgroup, or of a new warpgroup. The role
  /// of the launch leaves a new warpgroup the registers that it needs.
  Result<void> add_role() {
    constexpr int kWarps = machine::kWarpsPerWarpgroup;
    auto& groups = plan_.warpgroups;
    const auto free = std::find_if(groups.begin(), groups.end(),
                                   [](const Warpgroup& it) { return it.warps < kWarps; });
    const auto group = static_cast<std::size_t>(free - groups.begin());
    if (free == groups.end()) {
      if ((static_cast<int>(groups.size()) + 1) * kWarps > kMostWarps) {
        return fail({}, "a CTA has no warp left to store with");
      }
      const int before = static_cast<int>(groups.size());
      Limits& limits = plan_.limits;
      limits.launch_registers = limits.launch_registers * before / (before + 1) / 8 * 8;
      groups.push_back({limits.launch_registers > 0 ? kStoreRegisters : 0, 0});
      share_registers();
    }
    Role role;
    role.name = new_role(plan_, "STORE");
    role.warps = 1;
    role.warpgroup = WarpgroupId(group);
    role.first_warp = static_cast<int>(group) * kWarps + groups[group].warps++;
    role.group = plan_.roles.front().group;
    id_ = RoleId(plan_.roles.size());
    plan_.roles.push_back(std::move(role));
    return {};
  }

  /// Takes registers that the launch lacks from the launch's own role. If that role needs them, the
  /// plan keeps them and a note says so: then a compiler gives the role fewer, and may spill.
  void share_registers() {
    Limits& limits = plan_.limits;
    if (limits.launch_registers == 0 || !plan_.kernel->launch_role) return;
    int sum = 0;
    for (const Warpgroup& group : plan_.warpgroups) sum += group.setmaxnreg;
    const int count = static_cast<int>(plan_.warpgroups.size());
    const int missing = sum - limits.launch_registers * count;
    if (missing <= 0) return;
    Role& launch = plan_.roles[plan_.kernel->launch_role->index()];
    const int groups =
        (launch.warps + machine::kWarpsPerWarpgroup - 1) / machine::kWarpsPerWarpgroup;
    const int less = ((missing + groups - 1) / groups + 7) / 8 * 8;
    if (launch.registers > launch.usable - less) {
      plan_.notes.push_back(
          fmt::format("not proven: {} has the registers that it needs; a launch with one more warp "
                      "has {} fewer",
                      launch.name, less));
      limits.launch_registers += (missing + count - 1) / count;
      return;
    }
    for (int g = 0; g < groups; ++g) {
      plan_.warpgroups[launch.warpgroup.index() + static_cast<std::size_t>(g)].setmaxnreg -= less;
    }
    launch.usable -= less;
  }

  /// The ring in which the plan stages the store for all of its roles.
  std::optional<BufferId> ring_below(const WholeStore& store) const {
    const auto& staged = plan_.kernel->per_tile_ops[store.per_tile_op].buffers;
    for (const BufferId ring : store.rings) {
      const bool below =
          !staged.empty() && std::all_of(staged.begin(), staged.end(), [&](BufferId staging) {
            return share_addresses(plan_[staging], plan_[ring]);
          });
      if (below) return ring;
    }
    return std::nullopt;
  }

  /// Removes the roles' own staging, which boxes replace.
  void drop_staging(std::vector<std::optional<BufferId>>& rings) {
    std::set<BufferId> dropped;
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      dropped.insert(op_of(i).buffers.begin(), op_of(i).buffers.end());
      op_of(i).buffers.clear();
    }
    const auto move = [&](BufferId& id) {
      id = BufferId(id.index() - static_cast<std::size_t>(
                                     std::distance(dropped.begin(), dropped.lower_bound(id))));
    };
    const auto move_all = [&](std::vector<BufferId>& ids) {
      for (BufferId& id : ids) move(id);
    };
    for (auto id = dropped.rbegin(); id != dropped.rend(); ++id) {
      plan_.buffers.erase(plan_.buffers.begin() + static_cast<std::ptrdiff_t>(id->index()));
    }
    for (Value& value : plan_.values) {
      if (value.home) move(*value.home);
      if (value.staged) move(*value.staged);
    }
    for (Channel& channel : plan_.channels) move_all(channel.buffers);
    for (PerTileOp& op : plan_.kernel->per_tile_ops) {
      move_all(op.buffers);
      move_all(op.reads);
      for (TensorAccess& access : op.tensor) move(access.buffer);
    }
    for (std::optional<BufferId>& ring : rings) {
      if (ring) move(*ring);
    }
    for (WholeStore& store : stores_) {
      if (store.place) move(*store.place);
    }
  }

  void add_box(std::size_t i, std::optional<BufferId> ring) {
    const WholeStore& store = stores_[i];
    PerTileOp& op = op_of(i);
    op.mechanism = Mechanism::bulk_store;
    op.sender = id_;
    op.bytes.assign(op.roles.size(), store.bytes / static_cast<Amount>(op.roles.size()));
    const auto known = boxes_.find(store.kind);
    if (known != boxes_.end()) {
      op.buffers = {known->second};
      return;
    }
    Buffer box;
    box.name = fmt::format("store{}", store.per_tile_op);
    box.memory = memory();
    box.size = store.bytes;
    box.staging = box.invariant_buffer = true;
    const bool taken = ring && !taken_.insert(*ring).second;
    if (ring && !taken) {
      box.offset = plan_[*ring].offset;
    } else if (store.place) {
      box.offset = plan_[*store.place].offset;
    } else {
      box.offset = end_of_tiles();
    }
    op.buffers = {BufferId(plan_.buffers.size())};
    boxes_[store.kind] = op.buffers.front();
    plan_.buffers.push_back(std::move(box));
  }

  /// Name of the memory in which the plan's tiles lie.
  std::string memory() const {
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.residence == Residence::shared && !buffer.memory.empty()) return buffer.memory;
    }
    return "";
  }

  /// End of the buffers in shared memory.
  Amount end_of_tiles() const {
    Amount end = 0;
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.residence != Residence::shared) continue;
      end = std::max(end, buffer.offset + buffer.size * buffer.depth);
    }
    return (end + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
  }

  /// Counts the bytes that boxes take beyond the memory of the plan.
  void reserve() {
    const auto memories = plan_.problem.memories();
    auto& reserved = plan_.limits.reserved;
    reserved.resize(memories.size());
    for (const auto& [kind, id] : boxes_) {
      const Buffer& box = plan_[id];
      for (std::size_t m = 0; m < memories.size(); ++m) {
        if (memories[m].name != box.memory) continue;
        reserved[m] = std::max(reserved[m], box.offset + box.size - memories[m].capacity);
      }
    }
  }

  /// The last store whose box was in that place: of the same tile, or else of the tile before.
  std::optional<std::size_t> before(std::size_t i) const {
    for (std::size_t j = i; j-- > 0;) {
      if (stores_[j].kind == stores_[i].kind) return j;
    }
    if (plan_.kernel->tiles == Tiles::one_per_cta || is_once(i)) return std::nullopt;
    for (std::size_t j = stores_.size(); j-- > i;) {
      if (stores_[j].kind == stores_[i].kind) return j;
    }
    return std::nullopt;
  }

  bool is_filled_again(std::size_t i) const {
    for (std::size_t j = 0; j < stores_.size(); ++j) {
      if (before(j) == i) return true;
    }
    return false;
  }

  void add_channels(std::size_t i) {
    const PerTileOp& op = op_of(i);
    for (const RoleId role : op.roles) {
      Channel channel;
      channel.name = fmt::format("store{} of {}", stores_[i].per_tile_op, plan_[role].name);
      channel.counts = Channel::Counts::tiles;
      channel.producer = role;
      channel.consumers = {id_};
      channel.full_arrivals = plan_[role].warps;
      channel.buffers = op.buffers;
      if (is_filled_again(i)) channel.empty_arrivals = 1;
      if (channel.empty_arrivals == 0) channel.kind = ChannelKind::signal;
      channels_[{i, role}] = ChannelId(plan_.channels.size());
      plan_.channels.push_back(std::move(channel));
    }
  }

  /// Writes the steps of the roles that fill a box, and of the role that stores it.
  void write(std::size_t i) {
    const std::size_t index = stores_[i].per_tile_op;
    for (const RoleId id : op_of(i).roles) write_filler(i, id);
    std::vector<Step>& steps = steps_for(i, id_);
    for (const auto& [whose, channel] : channels_) {
      if (whose.first == i) steps.push_back(box_step(StepKind::wait, channel));
    }
    Step issue = tile_step(StepKind::issue, By::one_warp);
    issue.per_tile_op = index;
    steps.push_back(issue);
    if (!is_filled_again(i)) return;
    Step drain = tile_step(StepKind::drain_groups, By::one_warp);
    drain.queue = Mechanism::bulk_store;
    drain.reads_only = true;
    steps.push_back(drain);
    for (const auto& [whose, channel] : channels_) {
      if (whose.first == i) steps.push_back(box_step(StepKind::release, channel));
    }
  }

  void write_filler(std::size_t i, RoleId id) {
    const std::size_t index = stores_[i].per_tile_op;
    std::vector<Step>& after = steps_for(i, id);
    const auto is_of_store = [&](const Step& step) { return step.per_tile_op == index; };
    const auto at = std::find_if(after.begin(), after.end(), is_of_store);
    std::vector<Step> steps = fills(i, id);
    const auto end = std::find_if(std::make_reverse_iterator(after.end()),
                                  std::make_reverse_iterator(at), is_of_store)
                         .base();
    auto place = after.erase(at, end);
    // The role waited until its own staging buffer was read.
    const auto meets = [](const Step& step) { return step.kind == StepKind::rendezvous; };
    auto waited = place;
    if (waited != after.begin() && meets(*(waited - 1))) --waited;
    const bool waits = waited != after.begin() && (waited - 1)->queue == Mechanism::bulk_store;
    if (waits && !starts_stores(plan_[id].sections.steady)) place = after.erase(waited - 1, place);
    after.insert(place, steps.begin(), steps.end());
  }

  /// Steps by which the role waits until the box is free, writes its rows there, and commits.
  std::vector<Step> fills(std::size_t i, RoleId id) {
    std::vector<Step> steps;
    const auto last = before(i);
    if (last) {
      const int offset = *last < i ? 1 : 0;  // of this tile, or of the tile before
      const auto own = channels_.find({*last, id});
      const ChannelId channel =
          own != channels_.end() ? own->second : channels_.at({*last, op_of(*last).roles.front()});
      steps.push_back(box_step(StepKind::acquire, channel, offset));
    }
    if (const auto tile = tile_below(i)) {
      steps.push_back(box_step(StepKind::acquire, *tile, 1));
    }
    Step stage = tile_step(StepKind::stage);
    stage.per_tile_op = stores_[i].per_tile_op;
    steps.push_back(stage);
    steps.push_back(tile_step(StepKind::fence));
    steps.back().fence = Fence::proxy;
    steps.push_back(box_step(StepKind::commit, channels_.at({i, id})));
    return steps;
  }

  /// The channel of the tile whose place a box takes as the first box there.
  std::optional<ChannelId> tile_below(std::size_t i) const {
    const auto& place = stores_[i].place;
    const BufferId box = boxes_.at(stores_[i].kind);
    if (!place || !share_addresses(plan_[*place], plan_[box]) || before(i)) return std::nullopt;
    for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
      const auto& buffers = plan_.channels[c].buffers;
      if (buffers.size() == 1 && buffers.front() == *place) return ChannelId(c);
    }
    return std::nullopt;
  }

  /// Makes the role learn of the next tile like other roles.
  void learn() {
    if (plan_.kernel->tiles == Tiles::one_per_cta) return;
    for (const PerTileOp& op : plan_.kernel->per_tile_ops) {
      if (!op.told) continue;
      Channel& channel = plan_.channels[op.told->index()];
      channel.consumers.push_back(id_);
      std::vector<Step>& steps = plan_.roles[id_.index()].after;
      steps.push_back(box_step(StepKind::wait, *op.told));
      if (channel.kind != ChannelKind::pipeline) continue;
      ++channel.empty_arrivals;
      steps.push_back(box_step(StepKind::release, *op.told));
    }
  }

  bool starts_stores(const std::vector<Step>& steps) const {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      if (step.kind != StepKind::issue) return false;
      return step.op
                 ? plan_.mechanisms[step.op->index()] == Mechanism::bulk_store
                 : plan_.kernel->per_tile_ops[*step.per_tile_op].mechanism == Mechanism::bulk_store;
    });
  }

  /// Adds waits for stores: only the roles that start stores wait for them, before they exit.
  void end(Role& role) const {
    const auto drains = [](const Step& step) {
      return step.kind == StepKind::drain_groups && step.queue == Mechanism::bulk_store;
    };
    const auto ends = [&](const Step& step) { return drains(step) && !step.reads_only; };
    const bool once = starts_stores(role.tail);
    if (!once && !starts_stores(role.after) && !starts_stores(role.sections.steady)) {
      std::erase_if(role.after, drains);
      std::erase_if(role.tail, drains);
    } else if (std::none_of(role.tail.begin(), role.tail.end(), ends)) {
      Step drain = tile_step(StepKind::drain_groups, By::one_warp);
      drain.queue = Mechanism::bulk_store;
      drain.instance = {Instance::From::last, -1};
      role.tail.push_back(drain);
    }
  }

  Plan plan_;
  std::vector<WholeStore> stores_;
  RoleId id_;
  std::map<std::size_t, BufferId> boxes_;                         ///< by kind
  std::set<BufferId> taken_;                                      ///< rings in which a box lies
  std::map<std::pair<std::size_t, RoleId>, ChannelId> channels_;  ///< by store and filler
};

}  // namespace

Result<Plan> with_store_role(Plan plan, const std::vector<WholeStore>& stores) {
  if (stores.empty() || !plan.kernel) return plan;
  return StoreRole(std::move(plan), stores).make();
}

std::vector<ChannelId> channels_to_sender(const Plan& plan, std::size_t per_tile_op) {
  std::vector<ChannelId> channels;
  const auto& sender = plan.kernel->per_tile_ops[per_tile_op].sender;
  if (!sender) return channels;
  const bool once = plan.kernel->per_tile_ops[per_tile_op].when == PerTileOp::When::end;
  for (const Step& step : once ? plan[*sender].tail : plan[*sender].after) {
    if (step.kind == StepKind::issue && step.per_tile_op == per_tile_op) return channels;
    if (step.kind == StepKind::wait) channels.push_back(*step.channel);
    if (step.kind != StepKind::wait) channels.clear();
  }
  return channels;
}

ChannelId first_to_sender(const Plan& plan, ChannelId channel) {
  const std::size_t ops = plan.kernel ? plan.kernel->per_tile_ops.size() : 0;
  for (std::size_t i = 0; i < ops; ++i) {
    const auto channels = channels_to_sender(plan, i);
    if (std::find(channels.begin(), channels.end(), channel) != channels.end()) {
      return channels.front();
    }
  }
  return channel;
}

bool gives_place_to_box(const Plan& plan, ChannelId channel) {
  if (plan[channel].buffers.empty() || plan[plan[channel].buffers.front()].staging) return false;
  return std::any_of(plan.roles.begin(), plan.roles.end(), [&](const Role& role) {
    return std::any_of(role.after.begin(), role.after.end(), [&](const Step& step) {
      return step.kind == StepKind::acquire && step.channel == channel && step.instance.offset == 1;
    });
  });
}

}  // namespace twill::plan
