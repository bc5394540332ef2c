#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/plan/plan.h"

/// Rings of a plan: the steps that fill and free them, in the planned loop and in loops after it.
namespace twill::plan {

/// The channel that reports copies by that op of the loop, and frees their places; empty if there
/// is none.
std::optional<ChannelId> ring_of(const Plan& plan, OpId copy);

/// The role that begins the loads of a loop after the planned loop through rings; empty if no role
/// does.
std::optional<RoleId> loader_of(const Plan& plan, const PerTileOp& loop);

/// Number of steps by which a role releases a copy of the channel in a window, or in a tile. A
/// consumer has none if its release of another channel implies this release.
std::ptrdiff_t releases(const Plan& plan, RoleId role, ChannelId channel);

/// Number of the channel's buffers that these loads fill.
std::ptrdiff_t filled_by(const Plan& plan, const Channel& channel,
                         const std::vector<RingLoad>& loads);

/// Whether a ring of the planned loop stops while others of its depth continue with these loads.
/// Roles count slots and phases by depth, so that depth must not be used afterwards. Precondition:
/// the loads have rings.
bool leaves_rings_behind(const Plan& plan, const std::vector<RingLoad>& loads);

}  // namespace twill::plan
