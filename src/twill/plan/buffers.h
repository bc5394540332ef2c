#pragma once

#include <optional>

#include "twill/plan/proof.h"

/// Buffers of a plan: what they share, and how to do with fewer copies.
namespace twill::plan {

/// Whether slots of the two buffers share addresses.
bool share_addresses(const Buffer& a, const Buffer& b);

/// The plan with one copy less in its deepest rings, proven. nullopt if that is no plan, or if no
/// ring would keep two copies: fewer hide nothing.
std::optional<ProvenPlan> with_fewer_copies(Plan plan);

}  // namespace twill::plan
