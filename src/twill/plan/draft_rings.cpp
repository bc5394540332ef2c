#include <algorithm>
#include <set>
#include <utility>

#include "twill/plan/draft.h"
#include "twill/plan/rings.h"

/// Loops after the planned loop whose loads continue to use its rings.
namespace twill::plan {
namespace {

/// Whether the roles of a loop read the channel as the planned loop does. They are its consumers,
/// and each releases once an iteration. None of them is the producer, which must run ahead.
bool reads_alike(const Plan& plan, const std::vector<RoleId>& roles, ChannelId channel) {
  const auto& readers = plan[channel].consumers;
  const bool apart = std::find(roles.begin(), roles.end(), plan[channel].producer) == roles.end();
  return apart && std::is_permutation(readers.begin(), readers.end(), roles.begin(), roles.end()) &&
         std::all_of(readers.begin(), readers.end(),
                     [&](RoleId role) { return releases(plan, role, channel) == 1; });
}

/// A ring of the planned loop for each load that is like a load of that loop. Empty if a load by
/// descriptor gets no ring, or if a channel fills more buffers than the loop loads.
std::vector<RingLoad> rings_for(const Plan& plan, const PerTileOp& loop,
                                const std::vector<LoadRequest>& requests) {
  std::vector<RingLoad> loads;
  std::set<OpId> taken;
  for (const LoadRequest& request : requests) {
    const auto like = std::find_if(request.like.begin(), request.like.end(), [&](OpId op) {
      return is_copy(plan.mechanisms[op.index()]) && ring_of(plan, op) && !taken.contains(op);
    });
    if (like != request.like.end() && request.runs_ahead) {
      loads.push_back({request.load, *like});
      taken.insert(*like);
    } else if (request.by_descriptor) {
      return {};
    }
  }
  for (std::size_t i = 0; i < plan.channels.size(); ++i) {
    const std::ptrdiff_t count = filled_by(plan, plan.channels[i], loads);
    if (count == 0) continue;
    const bool all = count == std::ssize(plan.channels[i].buffers);
    if (!all || !reads_alike(plan, loop.roles, ChannelId(i))) return {};
  }
  return loads;
}

}  // namespace

void continue_rings(Draft& draft, const Setting& setting) {
  if (!draft.plan.kernel) return;
  Kernel& kernel = *draft.plan.kernel;
  const bool walks = kernel.tiles != Tiles::one_per_cta;
  bool left_behind = false;
  for (std::size_t i = 0; i < kernel.per_tile_ops.size(); ++i) {
    PerTileOp& loop = kernel.per_tile_ops[i];
    std::vector<RingLoad> loads = rings_for(draft.plan, loop, setting.per_tile_ops[i].loads);
    const bool leaves = leaves_rings_behind(draft.plan, loads);
    if (left_behind || (leaves && walks)) continue;
    left_behind = leaves;
    loop.loads = std::move(loads);
  }
}

}  // namespace twill::plan
