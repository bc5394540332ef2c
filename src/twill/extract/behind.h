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

/// By op behind the loop, in its block or one around it: the ops of the loop that make something
/// it is computed from. An op with regions needs what is needed in them.
/// `sources`: by op of the loop, what it stands for.
std::map<ir::OpId, Makers> needs_behind(const Body& body,
                                        std::span<const std::vector<Source>> sources);

/// By op of the body that no op stands for and that computes something (no view, no constant): the
/// ops of the loop that need it, by way of others of its kind or not. Those that nobody needs are
/// left out. `sources` as above. Cost: ops of the loop times ops of the body.
std::map<ir::OpId, Makers> needed_beside(const Body& body,
                                         std::span<const std::vector<Source>> sources);

/// Sets of ops whose results meet behind the loop in registers: the same rows (`part`) of what one
/// op there is computed from. Nobody hands registers over behind the loop, so one group has to
/// make them all. Each set ascending, of two or more; disjoint; by first op.
std::vector<std::vector<TileOpId>> meetings(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
