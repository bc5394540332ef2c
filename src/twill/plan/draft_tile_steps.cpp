#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/draft.h"
#include "twill/plan/draft_scalar_effects.h"
#include "twill/plan/rings.h"

namespace twill::plan {
namespace {

Step step_of(StepKind kind, By by = By::every_warp) {
  Step step;
  step.kind = kind;
  step.instance = {Instance::From::tile, 0};
  step.by = by;
  return step;
}

}  // namespace

Step channel_step(StepKind kind, ChannelId channel, By by) {
  Step step = step_of(kind, by);
  step.channel = channel;
  return step;
}

namespace {

Step per_tile_step(StepKind kind, std::size_t per_tile_op, By by = By::every_warp) {
  Step step = step_of(kind, by);
  step.per_tile_op = per_tile_op;
  return step;
}

/// Whether wgmma may still be in flight when a role leaves the loop.
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

/// A role's use of a place in tensor memory within the loop.
struct Use {
  bool writes = false;
  bool asynchronous = false;  ///< whether tcgen05 ops use it: then a commit signals their end
};

std::map<RoleId, Use> users_of(const Draft& draft, BufferId buffer) {
  std::map<RoleId, Use> users;
  const auto add = [&](OpId op, bool writes) {
    Use& use = users[draft.role[op.index()]];
    use.writes = use.writes || writes;
    use.asynchronous = use.asynchronous || draft.mechanism(op) == Mechanism::tcgen05;
  };
  for (std::size_t v = 0; v < draft.role.size(); ++v) {
    if (draft.home(OpId(v)) == buffer) add(OpId(v), true);
  }
  for (const Read& read : draft.reads) {
    if (read.carries_value && draft.home(read.value) == buffer) add(read.reader, false);
  }
  return users;
}

/// Places in tensor memory that pass from one role to others once per tile: with initial values, or
/// with results of the loop.
struct Handover {
  RoleId from;
  std::vector<RoleId> to;  ///< ascending
  bool fills = false;      ///< whether the places are passed on before the loop
  /// Whether the next tile has to wait until the consumers release the places. Where the same roles
  /// fill a place and read the loop's result there, each direction implies the release of the
  /// other.
  bool returns = true;
  ChannelId channel;
};

/// Writes the steps of all roles.
class TileWriter {
 public:
  explicit TileWriter(Draft& draft) : draft_(draft), plan_(draft.plan) {}

  Result<void> run() {
    add_channels();
    add_handovers();
    const ScalarEffects effects(draft_);
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      write_before(RoleId(r));
      write_after(RoleId(r), effects);
      write_end(RoleId(r));
      if (plan_.kernel->cluster == 1) continue;
      plan_.roles[r].tail.push_back(step_of(StepKind::leave));
      plan_.roles[r].tail.back().instance = {Instance::From::last, -1};
    }
    return number_barriers();
  }

 private:
  struct Filled {
    std::size_t per_tile_op;
    ChannelId channel;
    std::vector<RoleId> consumers;
  };

  const std::vector<PerTileOp>& per_tile_ops() const { return plan_.kernel->per_tile_ops; }

  /// The roles that touch an invariant buffer.
  std::set<RoleId> readers_of(BufferId buffer) const {
    std::set<RoleId> roles;
    for (const OpId op : plan_[buffer].readers) roles.insert(draft_.role[op.index()]);
    for (const PerTileOp& per_tile_op : per_tile_ops()) {
      const auto& reads = per_tile_op.reads;
      if (std::find(reads.begin(), reads.end(), buffer) == reads.end()) continue;
      roles.insert(per_tile_op.roles.begin(), per_tile_op.roles.end());
    }
    return roles;
  }

  void add_channels() {
    for (std::size_t i = 0; i < per_tile_ops().size(); ++i) {
      const PerTileOp& per_tile_op = per_tile_ops()[i];
      if (!is_copy(per_tile_op.mechanism)) continue;
      const BufferId buffer = per_tile_op.buffers.front();
      const std::set<RoleId> readers = readers_of(buffer);
      Channel channel;
      channel.name = plan_[buffer].name;
      channel.counts = Channel::Counts::tiles;
      channel.producer = per_tile_op.roles.front();
      channel.consumers.assign(readers.begin(), readers.end());
      const bool threads = per_tile_op.mechanism == Mechanism::cp_async;
      channel.full_arrivals = threads ? 32 * plan_[channel.producer].warps : 1;
      for (const RoleId role : channel.consumers) {
        channel.empty_arrivals += read_by_unit(buffer, role) ? 1 : plan_[role].warps;
      }
      if (channel.consumers.empty()) channel.kind = ChannelKind::signal;
      if (!threads) channel.bytes = plan_[buffer].size;
      channel.buffers = {buffer};
      filled_.push_back({i, ChannelId(plan_.channels.size()), channel.consumers});
      plan_.channels.push_back(std::move(channel));
    }
  }

  /// Whether tcgen05 ops of the role read a loop-invariant buffer: then a commit signals the end of
  /// the reads.
  bool read_by_unit(BufferId buffer, RoleId role) const {
    const auto& readers = plan_[buffer].readers;
    return std::any_of(readers.begin(), readers.end(), [&](OpId op) {
      return draft_.role[op.index()] == role && draft_.mechanism(op) == Mechanism::tcgen05;
    });
  }

  static bool has(const std::vector<RoleId>& roles, RoleId role) {
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }

  // --- Tensor memory ----------------------------------------------------------------------------

  using Places = std::map<BufferId, std::set<RoleId>>;

  /// Places in tensor memory that roles access before or after the loop.
  Places accessed(PerTileOp::When when) const {
    Places places;
    for (const PerTileOp& per_tile_op : per_tile_ops()) {
      if (per_tile_op.when != when) continue;
      for (const TensorAccess& access : per_tile_op.tensor)
        places[access.buffer].insert(access.role);
    }
    return places;
  }

  void add_handovers() {
    using Key = std::tuple<RoleId, std::set<RoleId>, bool>;
    std::map<Key, std::vector<BufferId>> filled, left;
    const Places fillers = accessed(PerTileOp::When::before);
    const Places readers = accessed(PerTileOp::When::after);
    for (const auto& [buffer, roles] : fillers) {
      const auto users = users_of(draft_, buffer);
      const bool returns = !circulates(buffer, fillers, readers);
      for (const RoleId filler : roles) {
        std::set<RoleId> to;
        for (const auto& [user, use] : users) {
          if (user != filler || use.asynchronous) to.insert(user);
        }
        if (!to.empty()) filled[{filler, to, returns}].push_back(buffer);
      }
    }
    for (const auto& [buffer, roles] : readers) {
      const bool returns = !circulates(buffer, fillers, readers);
      for (const auto& [user, use] : users_of(draft_, buffer)) {
        std::set<RoleId> to = roles;
        if (!use.asynchronous) to.erase(user);
        if (use.writes && !to.empty()) left[{user, to, returns}].push_back(buffer);
      }
    }
    const auto add_all = [&](const auto& handovers, bool fills) {
      for (const auto& [key, buffers] : handovers) {
        const auto& [from, to, returns] = key;
        add_handover({from, {to.begin(), to.end()}, fills, returns, {}}, buffers);
      }
    };
    add_all(filled, true);
    add_all(left, false);
  }

  /// Whether a place goes from the roles that fill it through the loop and back to them: all users
  /// in the loop pass it on.
  bool circulates(BufferId buffer, const Places& fillers, const Places& readers) const {
    const auto filled = fillers.find(buffer);
    const auto read = readers.find(buffer);
    if (filled == fillers.end() || read == readers.end() || filled->second != read->second) {
      return false;
    }
    const auto users = users_of(draft_, buffer);
    return std::all_of(users.begin(), users.end(),
                       [](const auto& user) { return user.second.writes; });
  }

  /// Whether a role's work on the places of a handover in the loop is asynchronous.
  bool is_asynchronous(const Handover& handover, RoleId role) const {
    const auto& buffers = plan_[handover.channel].buffers;
    return std::any_of(buffers.begin(), buffers.end(), [&](BufferId buffer) {
      const auto users = users_of(draft_, buffer);
      const auto use = users.find(role);
      return use != users.end() && use->second.asynchronous;
    });
  }

  void add_handover(Handover handover, const std::vector<BufferId>& buffers) {
    Channel channel;
    for (const BufferId buffer : buffers) {
      channel.name += (channel.name.empty() ? "" : "+") + plan_[buffer].name;
    }
    channel.name = fmt::format("{} {} {}", channel.name, handover.fills ? "for" : "of",
                               plan_[handover.fills ? handover.to.front() : handover.from].name);
    const auto taken = [&](const Channel& other) { return other.name == channel.name; };
    if (std::any_of(plan_.channels.begin(), plan_.channels.end(),
                    taken)) {  // the other end differs
      channel.name += " by " + plan_[handover.fills ? handover.from : handover.to.front()].name;
    }
    channel.kind = handover.returns ? ChannelKind::pipeline : ChannelKind::signal;
    channel.counts = Channel::Counts::tiles;
    channel.producer = handover.from;
    channel.consumers = handover.to;
    channel.buffers = buffers;
    handover.channel = ChannelId(plan_.channels.size());
    plan_.channels.push_back(std::move(channel));
    Channel& it = plan_.channels.back();
    const auto arrivals = [&](RoleId role, bool in_loop) {
      return in_loop && is_asynchronous(handover, role) ? 1 : plan_[role].warps;
    };
    it.full_arrivals = arrivals(handover.from, !handover.fills);
    for (const RoleId role : handover.to) {
      if (handover.returns) it.empty_arrivals += arrivals(role, handover.fills);
    }
    handovers_.push_back(std::move(handover));
  }

  static Step tensor_fence(Fence kind) {
    Step step = step_of(StepKind::fence);
    step.fence = kind;
    return step;
  }

  /// Waits until the role owns the places: by `acquire` for their producer, by `wait` for a
  /// consumer.
  void take(std::vector<Step>& steps, StepKind kind, RoleId role, bool fills) const {
    for (const Handover& handover : handovers_) {
      const bool its = kind == StepKind::acquire ? handover.returns && handover.from == role
                                                 : has(handover.to, role);
      if (handover.fills != fills || !its) continue;
      steps.push_back(channel_step(kind, handover.channel, By::every_warp));
      steps.push_back(tensor_fence(Fence::tensor_after));
    }
  }

  /// Passes the places on by `commit`, or back by `release`, once the role's work on them is done.
  void give(std::vector<Step>& steps, StepKind kind, RoleId role, bool fills) const {
    const bool in_loop = (kind == StepKind::commit) != fills;
    for (const Handover& handover : handovers_) {
      const bool its = kind == StepKind::commit ? handover.from == role
                                                : handover.returns && has(handover.to, role);
      if (handover.fills != fills || !its) continue;
      if (in_loop && is_asynchronous(handover, role)) {
        steps.push_back(channel_step(kind, handover.channel, By::one_warp));
        steps.back().arrival = Arrival::asynchronous;
      } else {
        steps.push_back(tensor_fence(Fence::tensor_before));
        steps.push_back(channel_step(kind, handover.channel, By::every_warp));
      }
    }
  }

  bool touches(std::size_t per_tile_op, RoleId role) const {
    const auto& tensor = per_tile_ops()[per_tile_op].tensor;
    return std::any_of(tensor.begin(), tensor.end(),
                       [&](const TensorAccess& access) { return access.role == role; });
  }

  /// The first and the last access of a role to tensor memory before or after the loop.
  std::optional<std::pair<std::size_t, std::size_t>> span(RoleId role, PerTileOp::When when) const {
    std::optional<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < per_tile_ops().size(); ++i) {
      if (per_tile_ops()[i].when != when || !touches(i, role)) continue;
      found = {found ? found->first : i, i};
    }
    return found;
  }

  // --- Before and after -------------------------------------------------------------------------

  /// Writes the prologue: first the starts of all copies, then their waits. Copies by threads are
  /// fenced by their readers.
  void write_before(RoleId role) {
    std::vector<Step>& steps = plan_.roles[role.index()].before;
    for (const Filled& filled : filled_) {
      if (!has(per_tile_ops()[filled.per_tile_op].roles, role)) continue;
      const bool threads = per_tile_ops()[filled.per_tile_op].mechanism == Mechanism::cp_async;
      const By by = threads ? By::every_warp : By::one_warp;
      if (!filled.consumers.empty()) {
        steps.push_back(channel_step(StepKind::acquire, filled.channel, by));
      }
      if (!threads) steps.push_back(channel_step(StepKind::expect, filled.channel, by));
      steps.push_back(per_tile_step(StepKind::issue, filled.per_tile_op, by));
      steps.back().channel = filled.channel;
    }
    bool fenced = false;
    for (const Filled& filled : filled_) {
      if (!has(filled.consumers, role)) continue;
      steps.push_back(channel_step(StepKind::wait, filled.channel, By::every_warp));
      fenced = fenced || per_tile_ops()[filled.per_tile_op].mechanism == Mechanism::cp_async;
    }
    if (fenced) {
      steps.push_back(step_of(StepKind::fence));
      steps.back().fence = Fence::proxy;
    }
    take(steps, StepKind::acquire, role, false);
    const auto fills = span(role, PerTileOp::When::before);
    for (std::size_t i = 0; i < per_tile_ops().size(); ++i) {
      const PerTileOp& per_tile_op = per_tile_ops()[i];
      const bool here = per_tile_op.when == PerTileOp::When::before && has(per_tile_op.roles, role);
      if (!here || is_copy(per_tile_op.mechanism)) continue;
      if (fills && fills->first == i) take(steps, StepKind::acquire, role, true);
      steps.push_back(per_tile_step(StepKind::compute, i));
      if (fills && fills->second == i) give(steps, StepKind::commit, role, true);
    }
    take(steps, StepKind::wait, role, true);
  }

  void write_after(RoleId role, const ScalarEffects& effects) {
    Role& what = plan_.roles[role.index()];
    if (leaves_groups(plan_, what)) {
      Step drain = step_of(StepKind::drain_groups);
      drain.queue = Mechanism::wgmma;
      what.after.push_back(drain);
    }
    give(what.after, StepKind::release, role, true);
    give(what.after, StepKind::commit, role, false);
    const auto reads = span(role, PerTileOp::When::after);
    std::vector<Filled> held;
    for (const Filled& filled : filled_) {
      if (has(filled.consumers, role)) held.push_back(filled);
    }
    release(role, held, 0);
    effects.begin(role, what.after);
    for (std::size_t i = 0; i < per_tile_ops().size(); ++i) {
      const PerTileOp& per_tile_op = per_tile_ops()[i];
      if (per_tile_op.when != PerTileOp::When::after) continue;
      if (loader_of(plan_, per_tile_op) == role) write_loads(what, i);
      if (!has(per_tile_op.roles, role)) continue;
      if (reads && reads->first == i) take(what.after, StepKind::wait, role, false);
      effects.before(role, i, what.after);
      if (per_tile_op.mechanism == Mechanism::bulk_store) {
        write_store(what, i);
      } else {
        what.after.push_back(per_tile_step(StepKind::compute, i));
      }
      effects.behind(role, i, what.after);
      if (reads && reads->second == i) give(what.after, StepKind::release, role, false);
      release(role, held, i + 1);
    }
    effects.end(role, what.after);
  }

  /// Writes the ops that are done once after all tiles. Copies of the last tile that are still to
  /// be read are waited for behind these ops.
  void write_end(RoleId role) {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < per_tile_ops().size(); ++i) {
      const PerTileOp& op = per_tile_ops()[i];
      if (op.when != PerTileOp::When::end || !has(op.roles, role)) continue;
      steps.push_back(per_tile_step(StepKind::compute, i));
    }
    std::vector<Step>& tail = plan_.roles[role.index()].tail;
    tail.insert(tail.begin(), steps.begin(), steps.end());
  }

  /// Releases the loop-invariant buffers that are not read from step `next` on.
  void release(RoleId id, std::vector<Filled>& held, std::size_t next) {
    std::erase_if(held, [&](const Filled& filled) {
      const BufferId buffer = per_tile_ops()[filled.per_tile_op].buffers.front();
      for (std::size_t i = next; i < per_tile_ops().size(); ++i) {
        const PerTileOp& later = per_tile_ops()[i];
        const auto& reads = later.reads;
        const bool needed = later.when == PerTileOp::When::after && has(later.roles, id) &&
                            std::find(reads.begin(), reads.end(), buffer) != reads.end();
        if (needed) return false;
      }
      std::vector<Step>& after = plan_.roles[id.index()].after;
      after.push_back(channel_step(StepKind::release, filled.channel, By::every_warp));
      if (read_by_unit(buffer, id)) {
        after.back().by = By::one_warp;
        after.back().arrival = Arrival::asynchronous;
      }
      return true;
    });
  }

  /// Writes the loader's share of another loop.
  void write_loads(Role& role, std::size_t per_tile_op) const {
    const OpId first = per_tile_ops()[per_tile_op].loads.front().copy;
    const bool threads = plan_.mechanisms[first.index()] == Mechanism::cp_async;
    role.after.push_back(
        per_tile_step(StepKind::issue, per_tile_op, threads ? By::every_warp : By::one_warp));
  }

  /// Writes a store: the staging buffer is free once the last copy from it has been read. Then all
  /// warps write the buffer, and after a rendezvous one warp starts the copy.
  static void write_store(Role& role, std::size_t per_tile_op) {
    Step drain = step_of(StepKind::drain_groups, By::one_warp);
    drain.queue = Mechanism::bulk_store;
    drain.reads_only = true;
    role.after.push_back(drain);
    if (role.warps > 1) role.after.push_back(step_of(StepKind::rendezvous));
    role.after.push_back(per_tile_step(StepKind::stage, per_tile_op));
    role.after.push_back(step_of(StepKind::fence));
    role.after.back().fence = Fence::proxy;
    if (role.warps > 1) role.after.push_back(step_of(StepKind::rendezvous));
    role.after.push_back(per_tile_step(StepKind::issue, per_tile_op, By::one_warp));
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
  std::vector<Handover> handovers_;
};

}  // namespace

Result<void> make_tile_steps(Draft& draft) {
  if (!draft.plan.kernel) return {};
  TWILL_TRY_VOID(TileWriter(draft).run());
  make_overlays(draft);
  return {};
}

}  // namespace twill::plan
