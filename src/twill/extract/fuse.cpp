#include "twill/extract/fuse.h"

#include <algorithm>
#include <map>
#include <utility>

namespace twill::extract {
namespace {

/// The fused op that all readers of op `u` have joined; nullopt without a single one.
std::optional<std::size_t> only_reader(const TileGraph& graph,
                                       const std::vector<std::vector<std::size_t>>& out,
                                       const std::vector<std::size_t>& head, std::size_t u) {
  std::optional<std::size_t> reader;
  for (std::size_t e : out[u]) {
    const TileEdge& edge = graph.edges[e];
    if (edge.distance != 0 || edge.flow != Flow::value) return std::nullopt;
    const std::size_t to = head[edge.to.index()];
    if (reader && *reader != to) return std::nullopt;
    reader = to;
  }
  return reader;
}

bool alike(const TileOp& from, const TileOp& to) {
  if (from.action != Action::elementwise || to.action != Action::elementwise) return false;
  if (from.space != to.space || from.branch != to.branch) return false;
  return from.unit == to.unit || is_row(from.space);
}

/// For each op, the asynchronous ops of the same iteration that it waits for, directly or
/// indirectly. Ops are in the order of the text, which most edges follow, so few passes are needed.
std::vector<std::vector<bool>> awaited(const TileGraph& graph,
                                       const std::vector<std::vector<std::size_t>>& out) {
  const std::size_t count = graph.ops.size();
  std::vector<std::vector<bool>> waits(count, std::vector<bool>(count, false));
  for (bool changed = true; std::exchange(changed, false);) {
    for (std::size_t from = 0; from < count; ++from) {
      std::vector<bool> handed_on = waits[from];
      const Action action = graph.ops[from].action;
      if (action == Action::product || action == Action::copy) handed_on[from] = true;
      for (const std::size_t e : out[from]) {
        const TileEdge& edge = graph.edges[e];
        if (edge.distance != 0) continue;
        std::vector<bool>& to = waits[edge.to.index()];
        for (std::size_t op = 0; op < count; ++op) {
          if (!handed_on[op] || to[op]) continue;
          to[op] = changed = true;
        }
      }
    }
  }
  return waits;
}

bool has_piece(const TileOp& op, std::string_view kind) {
  return std::any_of(op.pieces.begin(), op.pieces.end(),
                     [&](const Piece& piece) { return piece.kind == kind; });
}

/// Finds "add" ops that belong to a fused multiply-add: the op reads a fine "fma" of the same fused
/// op.
std::vector<bool> contracted_adds(const TileGraph& graph, const std::vector<std::size_t>& head) {
  std::vector<bool> absorbed(graph.ops.size(), false);
  std::vector<bool> used(graph.ops.size(), false);
  for (const TileEdge& edge : graph.edges) {
    const std::size_t from = edge.from.index(), to = edge.to.index();
    if (from == to || edge.distance != 0 || head[from] != head[to]) continue;
    if (used[from] || absorbed[to] || is_row(graph.ops[to].space)) continue;
    if (!has_piece(graph.ops[from], "fma") || !has_piece(graph.ops[to], "add")) continue;
    absorbed[to] = used[from] = true;
  }
  return absorbed;
}

void add_piece(std::vector<Piece>& pieces, const Piece& piece) {
  for (Piece& known : pieces) {
    if (known.kind == piece.kind && known.bits == piece.bits && known.form == piece.form) {
      known.times += piece.times;
      return;
    }
  }
  pieces.push_back(piece);
}

void absorb(TileOp& into, const TileOp& member, bool part_of_fma) {
  for (const std::string& word : member.words) {
    const bool known = std::find(into.words.begin(), into.words.end(), word) != into.words.end();
    if (!known) into.words.push_back(word);
  }
  if (!part_of_fma) {
    for (const Piece& piece : member.pieces) add_piece(into.pieces, piece);
  }
  into.sources.insert(into.sources.end(), member.sources.begin(), member.sources.end());
}

}  // namespace

TileGraph fuse(TileGraph graph) {
  const std::size_t count = graph.ops.size();
  std::vector<std::vector<std::size_t>> out(count);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    out[graph.edges[e].from.index()].push_back(e);
  }
  const std::vector<std::vector<bool>> waits = awaited(graph, out);
  std::vector<std::size_t> head(count);
  std::vector<std::vector<std::size_t>> joined(count);  // ops of each head
  for (std::size_t u = 0; u < count; ++u) head[u] = u;
  for (std::size_t u = count; u-- > 0;) {
    const auto reader = only_reader(graph, out, head, u);
    joined[u] = {u};
    if (!reader || !alike(graph.ops[u], graph.ops[*reader])) continue;
    const bool again =
        std::any_of(joined[*reader].begin(), joined[*reader].end(), [&](std::size_t member) {
          return graph.ops[member].words == graph.ops[u].words && waits[member] != waits[u];
        });
    if (again) continue;
    head[u] = *reader;
    joined[*reader].push_back(u);
  }

  const std::vector<bool> absorbed = contracted_adds(graph, head);
  TileGraph fused;
  fused.axes = std::move(graph.axes);
  fused.invariant_buffers = std::move(graph.invariant_buffers);
  fused.warnings = std::move(graph.warnings);
  fused.notes = std::move(graph.notes);
  std::vector<std::size_t> place(count, count);
  std::map<std::size_t, std::vector<std::size_t>> members;  // ops of each head, in program order
  for (std::size_t u = 0; u < count; ++u) members[head[u]].push_back(u);
  for (std::size_t u = 0; u < count; ++u) {
    if (head[u] != u) continue;
    place[u] = fused.ops.size();
    TileOp op = graph.ops[u];
    op.words.clear();
    op.pieces.clear();
    op.sources.clear();
    for (std::size_t member : members[u]) absorb(op, graph.ops[member], absorbed[member]);
    fused.ops.push_back(std::move(op));
  }
  for (const TileEdge& edge : graph.edges) {
    const std::size_t from = place[head[edge.from.index()]];
    const std::size_t to = place[head[edge.to.index()]];
    if (from == to && edge.distance == 0) continue;
    connect(fused, {TileOpId(from), TileOpId(to), edge.distance, edge.flow});
  }
  return fused;
}

}  // namespace twill::extract
