#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "twill/plan/proof/rules.h"
#include "twill/plan/rings.h"

/// Rings that loops after the planned loop continue to use.
///
/// In each iteration of such a loop, the loader acquires every channel once, expects and begins its
/// loads. Each consumer waits for every channel once, and then releases each once. So the channel
/// has one more instance, with as many arrivals and bytes as any other. The loader waits for
/// releases of instances `depth` before, and a consumer for the loader's current instance. Neither
/// waits for later events. So their waits can form a circle only through their other steps outside
/// the loop, which `Run::meet_in_loops` checks in a run.
namespace twill::plan::proof {
namespace {

class RingLoadCheck {
 public:
  RingLoadCheck(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void check() {
    bool left_behind = false;
    const bool walks = plan_.kernel->tiles != Tiles::one_per_cta;
    for (const PerTileOp& loop : plan_.kernel->per_tile_ops) {
      if (loop.loads.empty()) continue;
      if (!have_rings(loop)) return;
      for (std::size_t c = 0; c < plan_.channels.size(); ++c) check_channel(loop, ChannelId(c));
      check_staging(loop);
      if (left_behind)
        wrong(loop, "goes on with rings that another loop has left behind");
      left_behind = leaves_rings_behind(plan_, loop.loads);
      if (left_behind && walks) wrong(loop, "leaves rings behind with which the next tile goes on");
    }
  }

 private:
  void wrong(const PerTileOp& loop, const std::string& why) {
    findings_.add("rings", loop.what + " " + why);
  }

  /// Checks that every load has a ring of its own, and that one role begins all loads.
  bool have_rings(const PerTileOp& loop) {
    std::set<OpId> copies;
    const auto loader = loader_of(plan_, loop);
    for (const RingLoad& load : loop.loads) {
      const auto ring = ring_of(plan_, load.copy);
      const bool right = is_copy(plan_.mechanisms[load.copy.index()]) && ring &&
                         plan_[*ring].producer == loader && copies.insert(load.copy).second;
      if (right) continue;
      wrong(loop, "loads " + load.load.what + " through no ring of its own");
      return false;
    }
    return true;
  }

  /// Checks that an instance of the channel in the loop is like an instance in the planned loop.
  void check_channel(const PerTileOp& loop, ChannelId id) {
    const Channel& channel = plan_[id];
    const std::ptrdiff_t filled = filled_by(plan_, channel, loop.loads);
    if (filled == 0) return;
    if (filled < std::ssize(channel.buffers)) {
      wrong(loop, "fills only some of the buffers of " + channel.name);
    }
    if (channel.counts != Channel::Counts::iterations || channel.kind != ChannelKind::pipeline) {
      wrong(loop, "goes on with " + channel.name + ", which is no ring of the loop");
    }
    if (!std::is_permutation(channel.consumers.begin(), channel.consumers.end(), loop.roles.begin(),
                             loop.roles.end())) {
      wrong(loop, "is not done by the roles that read " + channel.name);
    }
    for (const RoleId role : channel.consumers) {
      if (releases(plan_, role, id) == 1) continue;
      wrong(loop, fmt::format("goes on with {}, which {} does not release once an iteration",
                              channel.name, plan_[role].name));
    }
  }

  /// Checks that no store before the loop lies where the loop loads: the loader runs ahead.
  void check_staging(const PerTileOp& loop) {
    for (const PerTileOp& other : plan_.kernel->per_tile_ops) {
      if (&other == &loop) return;
      for (const BufferId staging : other.buffers) {
        for (const RingLoad& load : loop.loads) {
          const Buffer& ring = plan_[*plan_.values[load.copy.index()].home];
          if (other.when != PerTileOp::When::after || !share_addresses(plan_[staging], ring)) {
            continue;
          }
          wrong(loop, "loads into " + ring.name + ", from where " + other.what + " may store");
        }
      }
    }
  }

  const Plan& plan_;
  Findings& findings_;
};

}  // namespace

void check_ring_loads(const Plan& plan, Findings& findings) {
  if (plan.kernel) RingLoadCheck(plan, findings).check();
}

}  // namespace twill::plan::proof
