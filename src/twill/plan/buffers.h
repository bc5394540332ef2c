#pragma once

#include <optional>

#include "twill/plan/proof.h"

/// Buffers of a plan: groups of buffers that share addresses, and plans with fewer copies.
namespace twill::plan {

/// Whether slots of the two buffers share addresses.
bool share_addresses(const Buffer& a, const Buffer& b);

/// The plan with one copy less in its deepest rings, proven. nullopt if the result is no proven
/// plan, or if no ring would keep two copies: a single copy hides no latency.
std::optional<ProvenPlan> with_fewer_copies(Plan plan);

}  // namespace twill::plan
