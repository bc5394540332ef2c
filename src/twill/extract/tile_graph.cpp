#include "twill/extract/tile_graph.h"

#include <algorithm>

namespace twill::extract {

std::int64_t elements_of(const Space& space) {
  constexpr std::int64_t kMost = 1'000'000'000'000;  // larger than any tile; keeps prices in range
  std::int64_t product = 1;
  for (const Extent& extent : space) {
    product = extent.size > kMost / product ? kMost : product * extent.size;
  }
  return product;
}

bool is_row(const Space& space) { return space.size() <= 1; }

TileGraph::TileGraph() = default;
TileGraph::TileGraph(const TileGraph&) = default;
TileGraph::TileGraph(TileGraph&&) noexcept = default;
TileGraph& TileGraph::operator=(const TileGraph&) = default;
TileGraph& TileGraph::operator=(TileGraph&&) noexcept = default;
TileGraph::~TileGraph() = default;

std::optional<std::size_t> find_axis(const Space& space, AxisId axis) {
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].axis == axis) return i;
  }
  return std::nullopt;
}

void connect(TileGraph& graph, TileEdge edge) {
  if (std::find(graph.edges.begin(), graph.edges.end(), edge) == graph.edges.end()) {
    graph.edges.push_back(edge);
  }
}

}  // namespace twill::extract
