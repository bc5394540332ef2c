#pragma once

#include <string>
#include <vector>

#include "twill/extract/tile_graph.h"
#include "twill/machine/machine.h"
#include "twill/problem/ops.h"

namespace twill::extract {

inline constexpr int kWarpgroup = 4;  ///< warps of a warpgroup

struct Pricing {
  const machine::Machine* machine = nullptr;
  machine::Rate rate = machine::Rate::fastest;
  int compute_groups = 1;
  int warpgroups = 1;  ///< warpgroups of each group
};

/// An alternative of an op, with its price.
struct PricedAlternative {
  std::string name;  ///< empty if there is only one
  machine::Cost cost;
};

/// Prices of all ops, by index; the first alternative is the operation in the kernel's text. Ops of
/// a chain share the time of the interleaved chain. Their latencies shrink in proportion, and at
/// the slowest rate also the time for which they hold their group. Demands on pipes and issue slots
/// stay.
Result<std::vector<std::vector<PricedAlternative>>> price_ops(const TileGraph& graph,
                                                              const Pricing& pricing);

/// Warps of the pool's first compute group: a group that does not load and has more than one warp.
/// 4 if the pool has none.
int compute_width(const machine::Pool& pool);

/// Number of warpgroups in a compute group that hold parts of the same rows of a tile or row
/// vector. Above one if the group has more warpgroups than the rows fill, at `subtile_rows` each.
int parts_of_row(const Space& space, const Pricing& pricing);

/// Converts a price to an alternative of the op.
problem::Alternative alternative_of(const machine::Cost& cost);
problem::Alternative alternative_of(const PricedAlternative& priced);

/// Size of a tile in bytes.
std::int64_t bytes_of(const Space& space, int bits);

/// Size of a tile in columns of tensor memory: 128 lanes times 32 bits each.
std::int64_t columns_of(const Space& space, int bits);

}  // namespace twill::extract
