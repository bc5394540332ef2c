#pragma once

#include <string>
#include <vector>

#include "twill/extract/tile_graph.h"
#include "twill/machine/machine.h"
#include "twill/problem/ops.h"

namespace twill::extract {

inline constexpr int kWarpgroup = 4;  ///< warps

struct Pricing {
  const machine::Machine* machine = nullptr;
  machine::Rate rate = machine::Rate::fastest;
  int compute_groups = 1;
  int warpgroups = 1;  ///< of each
};

/// An alternative of an op, with its price.
struct PricedAlternative {
  std::string name;  ///< empty if there is only one
  machine::Cost cost;
};

/// The prices of all ops, by index; the first is for the operation in the kernel's text. Ops of one
/// chain share the time of the interleaved chain. Their latencies, and at the slowest rate the time
/// they hold their group, shrink in proportion. Demands on pipes and issue slots stay.
Result<std::vector<std::vector<PricedAlternative>>> price_ops(const TileGraph& graph,
                                                              const Pricing& pricing);

/// Warps of the pool's first compute group, which neither loads nor is of one warp; 4 if it has
/// none.
int compute_width(const machine::Pool& pool);

/// Warpgroups of a compute group that hold parts of the same rows of a tile or row vector. More
/// than one if it has more warpgroups than the rows fill, at `subtile_rows` each.
int parts_of_row(const Space& space, const Pricing& pricing);

/// A price as an alternative of the op.
problem::Alternative alternative_of(const machine::Cost& cost);
problem::Alternative alternative_of(const PricedAlternative& priced);

/// Bytes of a tile.
std::int64_t bytes_of(const Space& space, int bits);

/// Columns of tensor memory: 128 lanes times 32 bits each.
std::int64_t columns_of(const Space& space, int bits);

}  // namespace twill::extract
