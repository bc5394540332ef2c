#include "twill/extract/chains.h"

#include <algorithm>
#include <map>

namespace twill::extract {
namespace {

/// Register arithmetic on a whole tile.
bool is_arithmetic(const TileOp& op) {
  return (op.action == Action::elementwise || op.action == Action::reduction) && !is_row(op.space);
}

class Chains {
 public:
  explicit Chains(const TileGraph& graph)
      : graph_(graph), in_(graph.ops.size()), out_(graph.ops.size()), head_(graph.ops.size()) {
    for (const TileEdge& edge : graph.edges) {
      out_[edge.from.index()].push_back(edge);
      in_[edge.to.index()].push_back(edge);
    }
    for (std::size_t i = 0; i < head_.size(); ++i) head_[i] = i;
  }

  std::vector<std::vector<std::size_t>> run() {
    for (std::size_t i = 0; i < head_.size(); ++i) {
      if (const auto from = chain_before(i)) head_[i] = head_[*from];
    }
    std::map<std::size_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < head_.size(); ++i) members[head_[i]].push_back(i);
    std::vector<std::vector<std::size_t>> chains;
    for (auto& [head, chain] : members) {
      if (chain.size() > 1) chains.push_back(std::move(chain));
    }
    return chains;
  }

 private:
  /// The producer for interleaving with op `i`. Op `i` must be its only reader, or read no other
  /// value of this iteration.
  std::optional<std::size_t> chain_before(std::size_t i) const {
    const TileOp& op = graph_.ops[i];
    if (!is_arithmetic(op)) return std::nullopt;
    for (const TileEdge& edge : in_[i]) {
      const std::size_t from = edge.from.index();
      const TileOp& producer = graph_.ops[from];
      if (edge.distance != 0 || producer.action != Action::elementwise) continue;
      if (!is_arithmetic(producer) || producer.space != op.space) continue;
      if (out_[from].size() == 1 || reads_only(i, head_[from])) return from;
    }
    return std::nullopt;
  }

  bool reads_only(std::size_t i, std::size_t head) const {
    return std::all_of(in_[i].begin(), in_[i].end(), [&](const TileEdge& edge) {
      return edge.distance == 0 && head_[edge.from.index()] == head;
    });
  }

  const TileGraph& graph_;
  std::vector<std::vector<TileEdge>> in_;
  std::vector<std::vector<TileEdge>> out_;
  std::vector<std::size_t> head_;
};

}  // namespace

std::vector<std::vector<std::size_t>> chains_of(const TileGraph& graph) {
  return Chains(graph).run();
}

}  // namespace twill::extract
