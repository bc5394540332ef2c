#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/plan/plan.h"

/// Rings of a plan: the steps that fill and free them, in the planned loop and in loops behind it.
namespace twill::plan {

/// The channel by which copies of that op of the loop become known, and their places free; empty if
/// it has none.
std::optional<ChannelId> ring_of(const Plan& plan, OpId copy);

/// The role that begins the loads of a loop behind the planned one through rings; empty if none
/// does.
std::optional<RoleId> loader_of(const Plan& plan, const PerTileOp& loop);

/// Steps by which a role releases a copy of the channel in a window, or in a tile. A consumer has
/// none if its release of another channel implies this one.
std::ptrdiff_t releases(const Plan& plan, RoleId role, ChannelId channel);

/// How many of a channel's buffers these loads fill.
std::ptrdiff_t filled_by(const Plan& plan, const Channel& channel,
                         const std::vector<RingLoad>& loads);

/// Whether a ring of the planned loop stays where it is while others of its depth go on with these
/// loads. Roles count slots and phases by depth, so nothing may use that depth
/// afterwards. Precondition: the loads have rings.
bool leaves_rings_behind(const Plan& plan, const std::vector<RingLoad>& loads);

}  // namespace twill::plan
