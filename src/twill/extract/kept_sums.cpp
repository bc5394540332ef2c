#include "twill/extract/kept_sums.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace twill::extract {
namespace {

/// For each op, whether it follows `first` in the same iteration.
std::vector<bool> followers_of(const TileGraph& graph, TileOpId first) {
  std::vector<bool> follows(graph.ops.size(), false);
  follows[first.index()] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const TileEdge& edge : graph.edges) {
      if (edge.distance != 0 || !follows[edge.from.index()] || follows[edge.to.index()]) continue;
      follows[edge.to.index()] = changed = true;
    }
  }
  return follows;
}

TileOp copy_of(const TileOp& sum) {
  TileOp copy;
  copy.action = Action::move;
  copy.pieces = {{"select", sum.result_bits, 1, "", 0}};  // an instruction for each element
  copy.space = copy.result = sum.result;
  copy.result_bits = sum.result_bits;
  copy.home = Home::registers;
  copy.forwards = true;
  copy.words = {"kept"};
  copy.words.insert(copy.words.end(), sum.words.begin(), sum.words.end());
  copy.sources = sum.sources;
  return copy;
}

/// Lets readers that follow the overwriting op read the copy of the sum.
void keep_for(TileGraph& graph, const TileEdge& update) {
  const std::vector<bool> follows = followers_of(graph, update.to);
  std::vector<std::size_t> readings;
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const TileEdge& edge = graph.edges[i];
    const bool reads = edge.from == update.from && edge.to != update.to &&
                       edge.flow == Flow::value && edge.distance == update.distance;
    if (reads && follows[edge.to.index()]) readings.push_back(i);
  }
  if (readings.empty()) return;
  const TileOpId copy(graph.ops.size());
  graph.ops.push_back(copy_of(graph.ops[update.from.index()]));
  for (const std::size_t i : readings) {
    graph.edges[i].from = copy;
    graph.edges[i].distance = 0;
  }
  connect(graph, {update.from, copy, update.distance, Flow::value});
  connect(graph, {copy, update.to, 0, Flow::order});
  const TileOp& sum = graph.ops[update.from.index()];
  const std::string text = sum.sources.empty() ? "a sum" : sum.sources.front().text;
  graph.notes.push_back("the sum of " + text +
                        " is copied before the next product adds to it, since both are read");
}

}  // namespace

TileGraph with_kept_sums(TileGraph graph) {
  const std::vector<TileEdge> edges = graph.edges;
  for (const TileEdge& edge : edges) {
    const bool carried = edge.flow == Flow::in_place && edge.distance > 0;
    const bool held = graph.ops[edge.from.index()].home == Home::registers;
    if (carried && held && graph.ops[edge.to.index()].action == Action::product) {
      keep_for(graph, edge);
    }
  }
  return graph;
}

std::vector<std::vector<TileOpId>> around_kept_sums(const TileGraph& graph) {
  std::vector<std::vector<TileOpId>> found;
  for (const TileEdge& kept : graph.edges) {
    const TileOp& copy = graph.ops[kept.to.index()];
    const bool keeps = copy.forwards && copy.home == Home::registers && kept.distance > 0;
    if (!keeps || kept.flow != Flow::value) continue;
    std::vector<TileOpId>& same = found.emplace_back(std::vector{kept.from, kept.to});
    for (const TileEdge& edge : graph.edges) {
      if (edge.from == kept.to && edge.flow == Flow::value) same.push_back(edge.to);
    }
    std::sort(same.begin(), same.end());
    same.erase(std::unique(same.begin(), same.end()), same.end());
  }
  return found;
}

}  // namespace twill::extract
