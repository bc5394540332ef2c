#pragma once

#include <optional>

#include "twill/plan/proof.h"

/// Buffers of a plan: what they share, and how to do with fewer copies.
namespace twill::plan {

/// Whether slots of the two buffers share addresses.
bool share_addresses(const Buffer& a, const Buffer& b);

/// Whether a ring of the planned loop stays where it is while others of its depth go on with these
/// loads. Roles count slots and phases by depth, so nothing may use that depth afterwards.
bool leaves_rings_behind(const Plan& plan, const std::vector<RingLoad>& loads);

/// The plan with one copy less in its deepest rings, proven. nullopt if that is no plan, or if no
/// ring would keep two copies: fewer hide nothing.
std::optional<ProvenPlan> with_fewer_copies(Plan plan);

}  // namespace twill::plan
