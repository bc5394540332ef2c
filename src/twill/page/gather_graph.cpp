#include <algorithm>
#include <utility>

#include "twill/page/loop_view.h"
#include "twill/schedule/analysis.h"

/// Dependences of a loop, laid out by role and time.
namespace twill::page {
namespace {

using problem::OpId;

/// Lists ops that exist, in the order in which one iteration issues them.
std::vector<OpId> by_issue(const LoopView& loop) {
  std::vector<OpId> order;
  for (std::size_t i = 0; i < loop.problem().ops().size(); ++i) {
    if (loop.exists(OpId(i))) order.emplace_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
    return loop.schedule().ops[a.index()].issue < loop.schedule().ops[b.index()].issue;
  });
  return order;
}

/// Places each op below the earlier-issued ops of its own iteration that it depends on, and below
/// all earlier-issued ops of its role.
void place_rows(const LoopView& loop, Graph& graph) {
  std::vector<std::size_t> next(graph.roles.size(), 0);
  for (const OpId op : by_issue(loop)) {
    Graph::Node& node = graph.nodes[*loop.place(op)];
    std::size_t row = next[node.column];
    for (const Graph::Edge& edge : graph.edges) {
      const bool before = edge.to == *loop.place(op) && edge.distance == 0;
      if (before) row = std::max(row, graph.nodes[edge.from].row + 1);
    }
    node.row = row;
    next[node.column] = row + 1;
  }
}

}  // namespace

void add_graph(const LoopView& loop, Facts& facts) {
  Graph graph;
  std::vector<std::size_t> columns(loop.problem().groups().size(), 0);
  for (const problem::GroupId group : schedule::used_groups(loop.problem(), loop.schedule())) {
    columns[group.index()] = graph.roles.size();
    graph.roles.push_back(loop.problem()[group].name);
  }
  for (std::size_t i = 0; i < loop.problem().ops().size(); ++i) {
    const auto place = loop.place(OpId(i));
    if (place) graph.nodes.push_back({*place, columns[loop.schedule().ops[i].group.index()], 0});
  }
  for (const problem::Dependence& it : loop.problem().dependences()) {
    const auto from = loop.place(it.from);
    const auto to = loop.place(it.to);
    if (!from || !to) continue;
    const bool crosses = graph.nodes[*from].column != graph.nodes[*to].column;
    graph.edges.push_back({*from, *to, it.distance, crosses, it.carries_value});
  }
  place_rows(loop, graph);
  facts.graph = std::move(graph);
}

}  // namespace twill::page
