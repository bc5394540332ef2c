#pragma once

#include <vector>

#include "twill/problem/ops.h"

/// Groups and ops that `minimum_compute_groups` counts (docs/reference/rules.md, minimum-groups).
/// The rooms that check answers (`verify`, `certify`, `emit/smtlib`) count by themselves.
namespace twill::problem {

/// The most warps of any group that is not for loads; 0 if there is none.
int compute_width(const Parts& parts);

/// Whether the group is not for loads and of the pool's compute width.
bool is_compute_group(const Parts& parts, const Group& group);

/// Compute groups of the pool.
int compute_groups(const Parts& parts);

/// Ops of the compute width without variable latency and without transfer ops: the most compute
/// groups that can be demanded. Cost: O(ops + transfers).
int compute_ops(const Parts& parts);

/// By op: whether it is a transfer op. Cost: O(ops + loads).
std::vector<bool> transfer_ops_among(const Parts& parts);

/// Compute groups that must have an op: the number asked for, as far as pool and ops allow.
int wanted_compute_groups(const Parts& parts);

}  // namespace twill::problem
