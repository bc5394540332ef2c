#pragma once

#include <vector>

#include "twill/problem/ops.h"

/// Groups and ops that `minimum_compute_groups` counts (docs/reference/rules.md, minimum-groups).
/// The rooms that check answers (`verify`, `certify`, `emit/smtlib`) have counts of their own.
namespace twill::problem {

/// Width of the widest group that is no load group, in warps; 0 without such a group.
int compute_width(const Parts& parts);

/// Whether the group is a compute group: no load group, and of the compute width.
bool is_compute_group(const Parts& parts, const Group& group);

/// Compute groups of the pool.
int compute_groups(const Parts& parts);

/// Number of ops of the compute width, without variable-latency ops and transfer ops. No Problem
/// can demand more compute groups. Cost: O(ops + transfers).
int compute_ops(const Parts& parts);

/// Marks transfer ops, by op. Cost: O(ops + loads).
std::vector<bool> transfer_ops_among(const Parts& parts);

/// Number of compute groups that must have an op: `minimum_compute_groups`, as far as pool and ops
/// allow.
int wanted_compute_groups(const Parts& parts);

}  // namespace twill::problem
