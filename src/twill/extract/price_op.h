#pragma once

#include "twill/extract/tile_graph.h"
#include "twill/machine/machine.h"

namespace twill::extract {

struct Pricing {
  const machine::Machine* machine = nullptr;
  machine::Rate rate = machine::Rate::fastest;
  int compute_groups = 1;
};

/// The price of one op; its pieces are interleaved. An op without pieces is free.
Result<machine::Cost> price_op(const TileOp& op, const Pricing& pricing);

/// Bytes of a tile.
std::int64_t bytes_of(const Space& space, int bits);

/// Columns of tensor memory: 128 lanes times 32 bits each.
std::int64_t columns_of(const Space& space, int bits);

}  // namespace twill::extract
