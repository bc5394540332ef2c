#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Ops behind a loop that compute with the tiles it leaves, and ops in it beside them.
namespace twill::extract {

/// Ops of a TileGraph or a Problem, by number.
using Makers = std::set<std::size_t>;

/// By op behind the loop, in its block or an outer one: the ops of the loop among its sources. An
/// op with regions has the needs of its regions. `sources`: by op of the loop, the ops of the text
/// that it stands for.
std::map<ir::OpId, Makers> needs_behind(const Body& body,
                                        std::span<const std::vector<Source>> sources);

/// By op of the body that computes a value without an op of the plan: the loop's ops that need it,
/// directly or indirectly. Leaves out views, constants and unneeded ops. `sources` as above. Cost:
/// ops of the loop times ops of the body.
std::map<ir::OpId, Makers> needed_beside(const Body& body,
                                         std::span<const std::vector<Source>> sources);

/// Sets of ops whose results meet behind the loop in registers: the same rows (`part`) of one op's
/// sources there. There are no transfers behind the loop, so one group must run each set. Sets have
/// two or more ops, ascending; they are disjoint, and sorted by first op.
std::vector<std::vector<TileOpId>> meetings(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
