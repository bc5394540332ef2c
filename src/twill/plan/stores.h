#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Tiles that are stored whole after the loop. If the host makes the descriptors, a store's box is
/// the tile of all roles, and not the rows of one role. So the roles fill the box together, and a
/// role of one warp stores it.
namespace twill::plan {

/// A store after the loop whose descriptor covers the whole tile.
struct WholeStore {
  std::size_t per_tile_op = 0;
  std::size_t kind = 0;         ///< boxes of one kind lie in the same memory and are used in turn;
                                ///< all of them per tile, or all once after the last tile
  Amount bytes = 0;             ///< size of the box
  std::vector<BufferId> rings;  ///< rings of the loop with enough room, in whose place the box may
                                ///< lie
  std::optional<BufferId> place;  ///< an invariant buffer in whose place the box may lie; empty:
                                  ///< none
};

/// The plan with a role that stores these boxes, named STORE or similarly. Each role that fills a
/// box has a channel to this role, and commits once its rows are written. A later store of the same
/// kind, or the next tile, fills the box again. So the storing role releases the channel once the
/// box was read. If possible, a box lies in the ring in which the plan stages the store. Otherwise
/// it lies in its `place`, or in memory of its own after all other tiles.
///
/// The result is not proven. Its `limits.reserved` has the amount by which the boxes exceed the
/// memory. Compilers that place tiles themselves may have room where the plan has none, and vice
/// versa. Returns a plan without such stores unchanged. Fails if a CTA has no warp left.
Result<Plan> with_store_role(Plan plan, const std::vector<WholeStore>& stores);

/// The channels of the roles that fill the box of a store, in the order in which its sender waits
/// for them.
std::vector<ChannelId> channels_to_sender(const Plan& plan, std::size_t per_tile_op);

/// The first of the channels that fill the same box; for another channel, the channel itself. A
/// printer may give these channels the same barriers, as their consumer waits for all of them, and
/// releases all.
ChannelId first_to_sender(const Plan& plan, ChannelId channel);

/// Whether a box takes the place of the channel's tile, and is filled once that tile is released.
bool gives_place_to_box(const Plan& plan, ChannelId channel);

}  // namespace twill::plan
