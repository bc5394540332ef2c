#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Order of accesses that no value carries: through global memory, and around ops that no access
/// may cross.
namespace twill::extract {

/// Orders `second` after `first` of the iteration `distance` before. Both may touch one place of
/// global memory, and one of them writes.
struct MemoryOrder {
  ir::OpId first;
  ir::OpId second;
  int distance = 0;
  friend bool operator==(const MemoryOrder&, const MemoryOrder&) = default;
};

/// Whether the order of two ops matters if they touch one place. It matters if one writes, except
/// for atomic operations that commute. Precondition: both access global memory, or order all
/// accesses.
bool conflict(const ir::Program& program, ir::OpId first, ir::OpId second);

/// Whether both addresses are known to be based on one argument.
bool share_array(const ir::Program& program, ir::ValueId address, ir::ValueId other);

/// Orders of accesses to memory, by pairs in the order of the text: within an iteration, and over
/// the back edge. Left out are pairs that provably touch no common place, and atomic operations of
/// one kind, which commute. Cost: quadratic in the accesses of the loop.
std::vector<MemoryOrder> memory_orders(const Body& body);

/// Fails if the loop writes an array that is read before or after the loop, or reads an array that
/// is written before it. Reason: roles begin and end the loop independently.
Result<void> check_around(const Body& body);

/// Fails if an order that the loop needs is missing among the edges of its graph.
Result<void> check_kept(const Body& body, const TileGraph& graph);

/// Note on arrays that a plan of the loop assumes to be disjoint. nullopt if the loop writes no
/// array, or accesses only one.
std::optional<std::string> assumed_apart(const ir::Program& program, ir::OpId loop);
/// Note on strides that a plan takes for strides of arrays whose rows do not overlap; nullopt
/// without such strides.
std::optional<std::string> assumed_strides(const ir::Program& program, ir::OpId loop);
/// Sentence about these arrays. Precondition: two or more arrays.
std::string apart_in_words(const ir::Program& program, const std::set<ir::ValueId>& arrays);

}  // namespace twill::extract
