#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Ops after a loop that compute with its tiles, and ops of the loop that the plan has no op for.
namespace twill::extract {

/// Ops of a TileGraph or a Problem, by number.
using Makers = std::set<std::size_t>;

/// For each op after the loop, in its block or an outer block: the ops of the loop among its
/// sources. Outer loops may carry values to it. An op with regions includes the needs of its
/// regions. `sources`: for each op of the loop, the ops of the text that it stands for.
std::map<ir::OpId, Makers> needs_behind(const Body& body,
                                        std::span<const std::vector<Source>> sources);

/// For each op of the body that computes a value outside of the plan: the loop's ops that need this
/// value, directly or indirectly. Leaves out views, constants and unneeded ops. `sources` as above.
/// Cost: ops of the loop times ops of the body.
std::map<ir::OpId, Makers> needed_beside(const Body& body,
                                         std::span<const std::vector<Source>> sources);

/// Sets of ops whose results meet in registers after the loop: sources, of the same rows (`part`),
/// of one op there. There are no transfers after the loop, so one group must run each set. Sets
/// have two or more ops, ascending; they are disjoint, and sorted by first op.
std::vector<std::vector<TileOpId>> meetings(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
