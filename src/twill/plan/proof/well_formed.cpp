#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/proof/rules.h"

namespace twill::plan::proof {
namespace {

// Most CTAs of a cluster; a run has a strand for the loads of each CTA for another.
constexpr int kMostCtas = 2;
constexpr Amount kLargestAmount = Amount{1} << 40;

class Checker {
 public:
  Checker(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void check() {
    check_sizes();
    if (!findings_.empty()) return;
    for (const Role& role : plan_.roles) check_role(role);
    for (const Buffer& buffer : plan_.buffers) check_buffer(buffer);
    for (const Channel& channel : plan_.channels) check_channel(channel);
    for (const Value& value : plan_.values) check_value(value);
    if (plan_.kernel) check_kernel(*plan_.kernel);
    check_cluster();
    if (!findings_.empty()) return;
    for (const Role& role : plan_.roles) check_sections(role);
  }

 private:
  void wrong(std::string message) { findings_.add("well-formed", std::move(message)); }

  void check_sizes() {
    const std::size_t ops = plan_.problem.ops().size();
    const auto expect = [&](std::size_t size, const char* what) {
      if (size != ops) wrong(fmt::format("there are {} {} for {} ops", size, what, ops));
    };
    expect(plan_.mechanisms.size(), "mechanisms");
    expect(plan_.values.size(), "values");
    expect(plan_.schedule.ops.size(), "placements");
    if (!plan_.shares.empty()) expect(plan_.shares.size(), "shares");
    for (const RowShare& share : plan_.shares) {
      in_range(share.part, -1, kMostOfAnything, "the part of an op");
      in_range(share.row_begin, 0, share.row_end, "the first row of an op");
    }
    for (std::size_t v = 0; v < plan_.schedule.ops.size() && v < ops; ++v) {
      const auto alternatives = plan_.problem.ops()[v].alternatives.size();
      const int alternative = plan_.schedule.ops[v].alternative;
      if (alternative < 0 || static_cast<std::size_t>(alternative) >= alternatives) {
        wrong(fmt::format("{} has no alternative {}", plan_.problem.ops()[v].name, alternative));
      }
    }
    if (plan_.roles.size() > static_cast<std::size_t>(kMostOfAnything) || plan_.roles.empty()) {
      wrong(fmt::format("there are {} roles", plan_.roles.size()));
    }
  }

  void in_range(std::int64_t value, std::int64_t low, std::int64_t high, const std::string& what) {
    if (value < low || value > high) {
      wrong(fmt::format("{} is {}, outside {}..{}", what, value, low, high));
    }
  }

  void check_role(const Role& role) {
    in_range(role.warps, 1, kMostWarps, "the warps of " + role.name);
    in_range(role.first_warp, 0, kMostWarps - 1, "the first warp of " + role.name);
    in_range(role.registers, 0, kMostOfAnything, "the registers of " + role.name);
    in_range(role.usable, 0, kMostOfAnything, "the usable registers of " + role.name);
    if (role.warpgroup.index() >= plan_.warpgroups.size()) {
      wrong(fmt::format("{} is in warpgroup {}, which does not exist", role.name,
                        role.warpgroup.index()));
    }
    if (role.group.index() >= plan_.problem.groups().size()) {
      wrong(fmt::format("{} is group {}, which does not exist", role.name, role.group.index()));
    }
    in_range(role.sections.spread, 0, kMostOfAnything, "the spread of " + role.name);
  }

  void check_buffer(const Buffer& buffer) {
    in_range(buffer.depth, 1, kMostOfAnything, "the depth of buffer " + buffer.name);
    in_range(buffer.initial, 0, kMostOfAnything, "the initial copies of buffer " + buffer.name);
    in_range(buffer.size, 0, kLargestAmount, "the size of buffer " + buffer.name);
    in_range(buffer.offset, 0, kLargestAmount, "the offset of buffer " + buffer.name);
    if (buffer.invariant_buffer)
      in_range(buffer.depth, 1, 1, "the depth of invariant buffer " + buffer.name);
    if (buffer.residence == Residence::registers &&
        (buffer.invariant_buffer || buffer.offset != 0)) {
      wrong("buffer " + buffer.name + " has a place in memory, and is in registers");
    }
    for (const OpId reader : buffer.readers) {
      if (reader.index() >= plan_.problem.ops().size()) {
        wrong("invariant buffer " + buffer.name + " is read by an op that there is not");
      }
    }
    const bool registers = buffer.residence == Residence::registers;
    if (registers != buffer.role.has_value() ||
        (buffer.role && buffer.role->index() >= plan_.roles.size())) {
      wrong(fmt::format("buffer {} does not say whose registers it is in", buffer.name));
    }
  }

  bool known(RoleId role) const { return role.index() < plan_.roles.size(); }
  bool known(BufferId buffer) const { return buffer.index() < plan_.buffers.size(); }

  void check_kernel(const Kernel& kernel) {
    in_range(kernel.group, 1, 1 << 20, "the group of the tile order");
    in_range(kernel.cluster, 1, kMostCtas, "the size of a cluster");
    for (const PerTileOp& per_tile_op : kernel.per_tile_ops) {
      const bool roles = std::all_of(per_tile_op.roles.begin(), per_tile_op.roles.end(),
                                     [&](RoleId role) { return known(role); });
      const auto is_invariant_buffer = [&](BufferId buffer) {
        return known(buffer) && plan_[buffer].invariant_buffer;
      };
      if (!roles ||
          !std::all_of(per_tile_op.buffers.begin(), per_tile_op.buffers.end(),
                       is_invariant_buffer) ||
          !std::all_of(per_tile_op.reads.begin(), per_tile_op.reads.end(), is_invariant_buffer)) {
        wrong(per_tile_op.what + " names a role or an invariant buffer that there is not");
        continue;
      }
      check_per_tile(per_tile_op);
      check_tensor(per_tile_op);
      check_alone(per_tile_op);
      check_loads(per_tile_op);
      if (!per_tile_op.sender) continue;
      if (per_tile_op.mechanism != Mechanism::bulk_store || !known(*per_tile_op.sender)) {
        wrong(per_tile_op.what + " is stored by a role that there is not");
      }
    }
    for (const Rematerialized& value : kernel.rematerialized) {
      const bool known_ops = std::all_of(value.readers.begin(), value.readers.end(), [&](OpId op) {
        return op.index() < plan_.problem.ops().size();
      });
      if (!known_ops || value.readers.empty()) wrong(value.what + " is needed by no op there is");
    }
    for (const PartialSum& sum : kernel.partial_sums) check_partial_sum(sum);
    for (const Whole& whole : kernel.wholes) check_whole(whole);
    if (kernel.launch_role && kernel.launch_role->index() >= plan_.roles.size()) {
      wrong("the kernel is launched with warps of a role that there is not");
    }
  }

  /// Checks that an effect that one role has for all has one role, and a channel from that role.
  void check_alone(const PerTileOp& per_tile_op) {
    if (!per_tile_op.alone && !per_tile_op.told) return;
    const bool is_one = per_tile_op.alone && per_tile_op.roles.size() == 1 &&
                        per_tile_op.when == PerTileOp::When::after;
    const auto tells = [&](ChannelId channel) {
      return channel.index() < plan_.channels.size() &&
             plan_[channel].counts == Channel::Counts::tiles &&
             plan_[channel].producer == per_tile_op.roles.front();
    };
    if (is_one && (!per_tile_op.told || tells(*per_tile_op.told))) return;
    wrong(per_tile_op.what + " is not done by one role that tells the others");
  }

  /// Checks that only loops after the planned loop load through rings, by ops that exist.
  void check_loads(const PerTileOp& per_tile_op) {
    if (per_tile_op.loads.empty()) return;
    const bool is_loop = per_tile_op.when == PerTileOp::When::after &&
                         per_tile_op.mechanism == Mechanism::threads && !per_tile_op.alone;
    const bool are_known = std::all_of(
        per_tile_op.loads.begin(), per_tile_op.loads.end(),
        [&](const RingLoad& load) { return load.copy.index() < plan_.problem.ops().size(); });
    if (!is_loop || !are_known) wrong(per_tile_op.what + " loads through rings that there are not");
  }

  void check_whole(const Whole& whole) {
    const auto are_known = [&](const std::vector<OpId>& ops) {
      return std::is_sorted(ops.begin(), ops.end()) &&
             (ops.empty() || ops.back().index() < plan_.problem.ops().size());
    };
    const bool in_loop = whole.placing == Placing::within || whole.placing == Placing::behind;
    const bool is_placed = whole.last.empty() != in_loop || !whole.objection.empty();
    if (are_known(whole.ops) && are_known(whole.last) && is_placed) return;
    wrong(whole.place.what + " is not done with ops that there are");
  }

  void check_partial_sum(const PartialSum& sum) {
    const std::size_t ops = plan_.problem.ops().size();
    const bool ascending = std::is_sorted(sum.ops.begin(), sum.ops.end());
    const bool has_sum = std::find(sum.ops.begin(), sum.ops.end(), sum.sum) != sum.ops.end();
    if (ascending && has_sum && sum.ops.back().index() < ops) return;
    wrong("a row sum in parts (" + sum.reduction.what + ") does not name its ops");
  }

  /// Checks the accesses of its roles' threads to values of the loop in tensor memory.
  void check_tensor(const PerTileOp& per_tile_op) {
    for (const TensorAccess& access : per_tile_op.tensor) {
      const auto& roles = per_tile_op.roles;
      const bool its = std::find(roles.begin(), roles.end(), access.role) != roles.end();
      const bool place = known(access.buffer) && !plan_[access.buffer].invariant_buffer &&
                         plan_[access.buffer].residence == Residence::tensor;
      if (per_tile_op.mechanism == Mechanism::threads && its && place) continue;
      wrong(per_tile_op.what +
            " has an access to tensor memory by a role that does not do it, or outside of the "
            "plan's buffers");
    }
  }

  /// Checks that a cluster's steps exist exactly if there is a cluster. A CTA that repeats its
  /// neighbour's tile skips writes to global memory, which is possible in prologue and epilogue
  /// only.
  void check_cluster() {
    const int ctas = cluster_size(plan_);
    if (ctas > 1 && plan_.kernel->tiles != Tiles::persistent) {
      wrong("the CTAs of a cluster do not walk the tiles side by side");
    }
    for (std::size_t v = 0; v < plan_.mechanisms.size(); ++v) {
      const std::string& name = plan_.problem.ops()[v].name;
      if (ctas > 1 && plan_.mechanisms[v] == Mechanism::bulk_store) {
        wrong(name + " stores in the loop, which a CTA that repeats a tile would do again");
      }
      if (plan_.mechanisms[v] != Mechanism::tma_multicast) continue;
      const auto home = plan_.values[v].home;
      if (ctas == 1) wrong(name + " is for all CTAs of a cluster, and there is none");
      if (home && known(*home) && bytes_brought(plan_, OpId(v)) % ctas != 0) {
        wrong(fmt::format("{} has {} bytes, of which {} CTAs do not load as many each", name,
                          bytes_brought(plan_, OpId(v)), ctas));
      }
    }
    for (const Channel& channel : plan_.channels) {
      if (channel.scope == Scope::cta) continue;
      if (ctas == 1) wrong("channel " + channel.name + " is of a cluster, and there is none");
      if (channel.kind != ChannelKind::pipeline) {
        wrong("channel " + channel.name + " is of the cluster, and nothing is released in it");
      }
    }
    if (ctas == 1) return;
    for (const PerTileOp& per_tile_op : plan_.kernel->per_tile_ops) {
      if (per_tile_op.mechanism != Mechanism::bulk_store || per_tile_op.writes) continue;
      wrong(per_tile_op.what + " stores, and does not say that it writes");
    }
  }

  /// Checks the number of roles and buffers, by the mechanism.
  void check_per_tile(const PerTileOp& per_tile_op) {
    const auto staging = [&](BufferId buffer) { return plan_[buffer].staging; };
    const auto staged = static_cast<std::size_t>(
        std::count_if(per_tile_op.buffers.begin(), per_tile_op.buffers.end(), staging));
    switch (per_tile_op.mechanism) {
      case Mechanism::threads:
      case Mechanism::scoreboard:
        if (per_tile_op.buffers.empty() && fits_time(per_tile_op)) return;
        break;
      case Mechanism::tma_load:
      case Mechanism::cp_async:
        if (per_tile_op.when == PerTileOp::When::before && per_tile_op.roles.size() == 1 &&
            per_tile_op.buffers.size() == 1 && staged == 0) {
          return;
        }
        break;
      case Mechanism::bulk_store:
        if (per_tile_op.when != PerTileOp::When::before && fits_time(per_tile_op) &&
            per_tile_op.buffers.size() == (per_tile_op.sender ? 1 : per_tile_op.roles.size()) &&
            per_tile_op.bytes.size() == per_tile_op.roles.size() &&
            staged == per_tile_op.buffers.size()) {
          return;
        }
        break;
      default:
        break;
    }
    wrong(fmt::format("{} has roles and buffers that do not go with {}", per_tile_op.what,
                      name_of(per_tile_op.mechanism)));
  }

  /// Whether an op that is done once after all tiles touches nothing that belongs to a tile.
  bool fits_time(const PerTileOp& op) const {
    if (op.when != PerTileOp::When::end) return true;
    const bool of_tile = op.alone || !op.reads.empty() || !op.tensor.empty() || !op.loads.empty();
    return !of_tile && plan_.kernel->tiles == Tiles::program_loop;
  }

  void check_channel(const Channel& channel) {
    in_range(channel.depth, 1, channel.kind == ChannelKind::token ? 1 : kMostOfAnything,
             "the depth of channel " + channel.name);
    in_range(channel.full_arrivals, 1, 1 << 20, "the full arrivals of " + channel.name);
    in_range(channel.empty_arrivals, 0, 1 << 20, "the empty arrivals of " + channel.name);
    in_range(channel.full_parity, 0, 1, "the full parity of " + channel.name);
    in_range(channel.empty_parity, 0, 1, "the empty parity of " + channel.name);
    in_range(channel.bytes, 0, kLargestAmount, "the bytes of " + channel.name);
    if (channel.kind != ChannelKind::token && channel.named_barrier != -1) {
      wrong(fmt::format("channel {} is no token, and has a named barrier", channel.name));
    }
    if ((channel.kind == ChannelKind::pipeline) != (channel.empty_arrivals > 0)) {
      wrong(fmt::format("channel {}: a pipeline, and nothing else, counts empty arrivals",
                        channel.name));
    }
    if (!known(channel.producer) || !std::all_of(channel.consumers.begin(), channel.consumers.end(),
                                                 [&](RoleId role) { return known(role); })) {
      wrong(fmt::format("channel {} names a role that there is not", channel.name));
    }
    for (const BufferId buffer : channel.buffers) {
      if (buffer.index() >= plan_.buffers.size()) {
        wrong(fmt::format("channel {} guards a buffer that there is not", channel.name));
      }
    }
  }

  void check_value(const Value& value) {
    for (const auto& buffer : {value.home, value.staged}) {
      if (buffer && buffer->index() >= plan_.buffers.size()) {
        wrong("a value lies in a buffer that there is not");
      }
    }
  }

  void check_sections(const Role& role) {
    const Sections& sections = role.sections;
    if (sections.short_trips.size() != static_cast<std::size_t>(sections.spread)) {
      wrong(fmt::format("{} spreads over {} windows but has {} short paths", role.name,
                        sections.spread + 1, sections.short_trips.size()));
      return;
    }
    for (const Step& step : sections.prologue) check_step(role, step, Instance::From::first);
    for (const Step& step : sections.steady) check_step(role, step, Instance::From::window);
    for (const Step& step : sections.drain) check_step(role, step, Instance::From::last);
    for (const auto& path : sections.short_trips) {
      for (const Step& step : path) check_step(role, step, Instance::From::first);
    }
    check_end(role);
    check_leaving(role);
    check_per_tile_ops(role, role.before, PerTileOp::When::before);
    check_per_tile_ops(role, role.after, PerTileOp::When::after);
  }

  /// Checks the tail: ops that are done once, then waits.
  void check_end(const Role& role) {
    const auto waits = std::find_if(role.tail.begin(), role.tail.end(), [](const Step& step) {
      return step.instance.from != Instance::From::tile;
    });
    check_per_tile_ops(role, {role.tail.begin(), waits}, PerTileOp::When::end);
    for (auto step = waits; step != role.tail.end(); ++step) {
      check_step(role, *step, Instance::From::last);
    }
    for (auto step = role.tail.begin(); step != waits && findings_.empty(); ++step) {
      if (step->channel && is_used_by_tiles(*step->channel)) {
        wrong("channel " + plan_[*step->channel].name + " is used per tile and after all tiles");
      }
    }
  }

  bool is_used_by_tiles(ChannelId channel) const {
    const auto uses = [&](const Step& step) { return step.channel == channel; };
    return std::any_of(plan_.roles.begin(), plan_.roles.end(), [&](const Role& role) {
      return std::any_of(role.before.begin(), role.before.end(), uses) ||
             std::any_of(role.after.begin(), role.after.end(), uses);
    });
  }

  /// Checks that a role leaves once, at the very end, and together with another role.
  void check_leaving(const Role& role) {
    const auto leaves = [](const Step& step) { return step.kind == StepKind::leave; };
    const auto count = std::count_if(role.tail.begin(), role.tail.end(), leaves);
    if (count == 0) return;
    const bool alone = cluster_size(plan_) == 1;
    if (alone || count > 1 || !leaves(role.tail.back()) || role.tail.back().by != By::every_warp) {
      wrong(role.name + (alone ? " leaves a cluster that there is not"
                               : " does not leave the cluster as its last step"));
    }
  }

  /// Checks steps of a tile: they belong to its prologue and epilogue ops, in the order of the
  /// program; copies may run ahead.
  void check_per_tile_ops(const Role& role, const std::vector<Step>& steps, PerTileOp::When when) {
    std::optional<std::size_t> last;
    for (const Step& step : steps) {
      check_step(role, step, Instance::From::tile);
      const int latest = step.kind == StepKind::acquire ? 1 : 0;  // releases are of this tile
      if (step.instance.offset > latest) {
        wrong("a step of " + role.name + " is about a tile to come");
      }
      if (!step.per_tile_op || !findings_.empty()) continue;
      const PerTileOp& per_tile_op = plan_.kernel->per_tile_ops[*step.per_tile_op];
      if (per_tile_op.when != when)
        wrong(per_tile_op.what + " is done at the other end of the loop");
      if (is_copy(per_tile_op.mechanism)) continue;
      if (last && *last > *step.per_tile_op) {
        wrong(fmt::format("{} does {} after {}", role.name, per_tile_op.what,
                          plan_.kernel->per_tile_ops[*last].what));
      }
      last = step.per_tile_op;
    }
  }

  void check_step(const Role& role, const Step& step, Instance::From from) {
    const std::string what = fmt::format("a step '{}' of {}", name_of(step.kind), role.name);
    if (step.instance.from != from) wrong(what + " counts its iteration from elsewhere");
    in_range(step.instance.offset, -kMostOfAnything, kMostOfAnything, "the iteration of " + what);
    if (step.kind == StepKind::leave && from != Instance::From::last) {
      wrong(what + " stands before the end");
    }
    const bool of_op = step.kind == StepKind::compute || step.kind == StepKind::issue ||
                       step.kind == StepKind::stage;
    const bool per_tile_op = of_op && from == Instance::From::tile;
    const std::size_t per_tile_ops = plan_.kernel ? plan_.kernel->per_tile_ops.size() : 0;
    if ((of_op && !per_tile_op) != step.op.has_value() ||
        per_tile_op != step.per_tile_op.has_value() ||
        (step.op && step.op->index() >= plan_.problem.ops().size()) ||
        (step.per_tile_op && *step.per_tile_op >= per_tile_ops)) {
      wrong(what + " names no op that there is");
      return;
    }
    check_step_channel(role, step, what);
    if (step.kind == StepKind::drain_groups)
      in_range(step.pending, 0, 63, "what is left by " + what);
  }

  static bool wants_channel(StepKind kind) {
    switch (kind) {
      case StepKind::acquire:
      case StepKind::expect:
      case StepKind::commit:
      case StepKind::wait:
      case StepKind::release:
      case StepKind::peek:
      case StepKind::pass:
      case StepKind::take:
        return true;
      default:
        return false;
    }
  }

  /// Precondition: the step's op exists, if it is an issue.
  bool is_load(const Step& step) const {
    return step.kind == StepKind::issue &&
           is_copy(step.op ? plan_.mechanisms[step.op->index()]
                           : plan_.kernel->per_tile_ops[*step.per_tile_op].mechanism);
  }

  void check_step_channel(const Role& role, const Step& step, const std::string& what) {
    const bool known = step.channel && step.channel->index() < plan_.channels.size();
    if (step.channel && !known) {
      wrong(what + " names a channel that there is not");
      return;
    }
    if (!step.channel && !wants_channel(step.kind)) return;
    if (!wants_channel(step.kind) && !is_load(step)) {
      wrong(what + " completes a channel, and is no load");
      return;
    }
    if (known && (plan_[*step.channel].counts == Channel::Counts::tiles) !=
                     (step.instance.from == Instance::From::tile)) {
      wrong(what + " counts other instances than its channel");
      return;
    }
    if (!wants_channel(step.kind)) return;
    if (!known) {
      wrong(what + " names no channel");
      return;
    }
    const Channel& channel = plan_[*step.channel];
    const bool token = step.kind == StepKind::pass || step.kind == StepKind::take;
    const bool empty = step.kind == StepKind::acquire || step.kind == StepKind::release;
    if (token != (channel.kind == ChannelKind::token) ||
        (empty && channel.kind != ChannelKind::pipeline)) {
      wrong(
          fmt::format("{} does not go with the {} {}", what, name_of(channel.kind), channel.name));
    }
    const RoleId id(static_cast<std::size_t>(&role - plan_.roles.data()));
    const bool produces = step.kind == StepKind::acquire || step.kind == StepKind::expect ||
                          step.kind == StepKind::commit || step.kind == StepKind::pass;
    // A role that fills a place waits until the place is free, also where other roles filled it
    // before.
    const bool waits = step.kind == StepKind::acquire && channel.counts == Channel::Counts::tiles;
    if (waits) return;
    const bool its = produces ? channel.producer == id
                              : std::find(channel.consumers.begin(), channel.consumers.end(), id) !=
                                    channel.consumers.end();
    if (!its) {
      wrong(fmt::format("{}: {} is not a {} of {}", what, role.name,
                        produces ? "producer" : "consumer", channel.name));
    }
  }

  const Plan& plan_;
  Findings& findings_;
};

}  // namespace

void check_well_formed(const Plan& plan, Findings& findings) { Checker(plan, findings).check(); }

}  // namespace twill::plan::proof
