#include "twill/extract/branches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace twill::extract {
namespace {

/// A branch with its ops of the graph. Copies are left out, since they run ahead. Moves of a value
/// to another place are never last ops.
struct Branch {
  ir::OpId id;
  std::set<TileOpId> ops;
};

class Keeper {
 public:
  Keeper(const Body& body, TileGraph& graph) : body_(body), graph_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) enter(TileOpId(i));
    for (auto& [id, branch] : branches_) {
      const std::map<int, std::vector<TileOpId>> last = last_of(branch);
      for (const TileEdge& edge : read_in(branch)) {
        for (const auto& [part, ops] : last) {
          if (!meet(graph_.ops[edge.to.index()].part, part)) continue;
          for (const TileOpId op : ops) keep(edge, op, branch);
        }
      }
      come_after(branch, last);
      unite(branch);
    }
  }

 private:
  void enter(TileOpId id) {
    const TileOp& op = graph_.ops[id.index()];
    if (op.action == Action::copy) return;
    for (const Source& source : op.sources) {
      const auto around = branch_around(body_, source.op);
      if (around) branches_.try_emplace(*around, Branch{*around, {}}).first->second.ops.insert(id);
    }
  }

  static bool meet(int part, int other) { return part < 0 || other < 0 || part == other; }

  /// Last ops for each part: no other op of the branch follows them in the same iteration.
  std::map<int, std::vector<TileOpId>> last_of(const Branch& branch) const {
    std::map<int, std::vector<TileOpId>> last;
    for (const TileOpId id : branch.ops) {
      const TileOp& op = graph_.ops[id.index()];
      const bool followed =
          std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const TileEdge& edge) {
            const TileOp& to = graph_.ops[edge.to.index()];
            return edge.from == id && edge.to != id && edge.distance == 0 && !to.forwards &&
                   branch.ops.contains(edge.to) && meet(to.part, op.part);
          });
      if (!followed && !op.forwards) last[op.part].push_back(id);
    }
    return last;
  }

  /// Edges by which ops of the branch read values from outside. The other side has no ops in the
  /// graph, so its inputs count as read by any op of the branch.
  std::vector<TileEdge> read_in(const Branch& branch) const {
    std::vector<TileEdge> read;
    std::copy_if(graph_.edges.begin(), graph_.edges.end(), std::back_inserter(read),
                 [&](const TileEdge& edge) {
                   return edge.flow == Flow::value && branch.ops.contains(edge.to) &&
                          !branch.ops.contains(edge.from);
                 });
    if (branch.ops.empty()) return read;
    for (const auto& [at, ops] : body_.other_branch) {
      if (at != branch.id && branch_around(body_, at) != branch.id) continue;
      for (const ir::OpId op : ops) read_on_other_side(op, *branch.ops.begin(), branch, read);
    }
    return read;
  }

  /// Adds the inputs of an op that is not in the graph, following other such ops.
  void read_on_other_side(ir::OpId op, TileOpId by, const Branch& branch,
                          std::vector<TileEdge>& read) const {
    std::set<std::pair<ir::ValueId, int>> seen;
    std::vector<std::pair<ir::ValueId, int>> open;
    const auto open_operands = [&](ir::OpId of, int distance) {
      for (const ir::ValueId value : read_by(*body_.program, of))
        open.emplace_back(value, distance);
    };
    open_operands(op, 0);
    while (!open.empty()) {
      const auto [value, so_far] = open.back();
      open.pop_back();
      const Origin origin = origin_of(body_, value);
      const int distance = so_far + origin.distance;
      const auto from = body_.program->value(origin.value).op;
      if (origin.invariant || !from || distance > kFarthest) continue;
      if (!seen.emplace(origin.value, distance).second) continue;
      const std::vector<TileOpId> makers = makers_of(*from);
      for (const TileOpId maker : makers) {
        if (!branch.ops.contains(maker)) read.push_back({maker, by, distance, Flow::value});
      }
      if (makers.empty()) open_operands(*from, distance);
    }
  }

  std::vector<TileOpId> makers_of(ir::OpId id) const {
    std::vector<TileOpId> makers;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const TileOp& op = graph_.ops[i];
      const bool makes =
          !op.forwards && op.home != Home::none &&
          std::any_of(op.sources.begin(), op.sources.end(),
                      [&](const Source& source) { return source.op == id && !source.absorbed; });
      if (makes) makers.emplace_back(i);
    }
    return makers;
  }

  /// Makes a last op read the inputs of another op of the branch.
  void keep(const TileEdge& edge, TileOpId op, const Branch& branch) {
    const TileOp& from = graph_.ops[edge.from.index()];
    if (from.home == Home::none || !meet(from.part, graph_.ops[op.index()].part)) return;
    const bool known =
        std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const TileEdge& it) {
          return it.from == edge.from && it.to == op && it.distance >= edge.distance &&
                 it.flow != Flow::order && it.flow != Flow::memory;
        });
    if (!known && edge.from != op && !branch.ops.contains(edge.from)) {
      connect(graph_, {edge.from, op, edge.distance, Flow::value});
    }
  }

  /// Orders readers of a two-sided branch after its last ops.
  void come_after(const Branch& branch, const std::map<int, std::vector<TileOpId>>& last) {
    const bool two_sided =
        std::any_of(body_.other_branch.begin(), body_.other_branch.end(), [&](const auto& other) {
          return other.first == branch.id || branch_around(body_, other.first) == branch.id;
        });
    if (!two_sided) return;
    const std::vector<TileEdge> edges = graph_.edges;
    for (const TileEdge& edge : edges) {
      const bool leaves = branch.ops.contains(edge.from) && !branch.ops.contains(edge.to);
      if (!leaves || edge.flow == Flow::memory) continue;
      for (const auto& [part, ops] : last) {
        if (!meet(graph_.ops[edge.to.index()].part, part)) continue;
        for (const TileOpId op : ops) {
          if (op != edge.from) connect(graph_, {op, edge.to, edge.distance, Flow::order});
        }
      }
    }
  }

  /// Requires one group for the ops of each part.
  void unite(const Branch& branch) {
    std::map<int, std::set<TileOpId>> parts;
    for (const TileOpId id : branch.ops) {
      const TileOp& op = graph_.ops[id.index()];
      if (!op.one_warp && !op.forwards) parts[op.part].insert(id);
    }
    if (parts.size() > 1) parts.erase(-1);
    for (auto& part : parts) {
      std::set<TileOpId>& ops = part.second;
      std::vector<std::vector<TileOpId>> others;
      for (std::vector<TileOpId>& known : graph_.together) {
        const bool meets =
            std::any_of(known.begin(), known.end(), [&](TileOpId op) { return ops.contains(op); });
        if (meets) ops.insert(known.begin(), known.end());
        if (!meets) others.push_back(std::move(known));
      }
      if (ops.size() > 1) others.emplace_back(ops.begin(), ops.end());
      std::sort(others.begin(), others.end());
      graph_.together = std::move(others);
    }
  }

  /// Greatest distance, in iterations, that is followed.
  static constexpr int kFarthest = 8;

  const Body& body_;
  TileGraph& graph_;
  std::map<ir::OpId, Branch> branches_;
};

}  // namespace

std::optional<ir::OpId> branch_around(const Body& body, ir::OpId op) {
  std::optional<ir::OpId> outermost;
  for (auto at = ir::parent(*body.program, op); at && *at != body.loop.op;
       at = ir::parent(*body.program, *at)) {
    if (body.program->op(*at).kind == ir::OpKind::branch) outermost = *at;
  }
  return ir::is_inside(*body.program, op, body.loop.op) ? outermost : std::nullopt;
}

void keep_for_branches(const Body& body, TileGraph& graph) { Keeper(body, graph).run(); }

}  // namespace twill::extract
