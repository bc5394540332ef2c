#include "twill/extract/sub_tile.h"

#include <algorithm>
#include <string>

namespace twill::extract {
namespace {

constexpr std::size_t kProductRows = 0;  // index of m in a product's space: m, n, k
constexpr std::size_t kContracted = 2;
constexpr std::int64_t kMostParts = 64;

enum class Fate { whole, repeated, shared_product, partial_sums };

/// True if all operands of `product` along `axis` are in memory that all groups can read.
bool contracts_from_memory(const TileGraph& graph, std::size_t product, AxisId axis) {
  for (const TileEdge& edge : graph.edges) {
    if (edge.to.index() != product || edge.flow != Flow::value) continue;
    const TileOp& from = graph.ops[edge.from.index()];
    if (find_axis(from.result, axis) && !is_memory(from.home)) return false;
  }
  return true;
}

tl::unexpected<Diagnostic> refuse(const TileOp& op, const std::string& why) {
  return fail({}, "the rows cannot be split into sub-tiles: '" + op.name + "' (" +
                      op.sources[0].text + ") " + why);
}

/// Whether a rare branch reads register tiles of the sub-tiles, so that each group has its own.
bool reads_cut_registers(const TileGraph& graph, std::size_t index, AxisId axis) {
  return std::any_of(graph.edges.begin(), graph.edges.end(), [&](const TileEdge& edge) {
    const TileOp& from = graph.ops[edge.from.index()];
    return edge.to.index() == index && edge.flow == Flow::value && from.home == Home::registers &&
           find_axis(from.result, axis);
  });
}

/// Whether TMA moves a box whose extents the kernel's launch has fixed.
bool moves_box(const TileOp& op) {
  return op.action == Action::copy || (op.action == Action::store && op.one_warp);
}

Result<Fate> fate_of(const TileGraph& graph, std::size_t index, AxisId axis) {
  const TileOp& op = graph.ops[index];
  if (op.action == Action::conditional) {
    return reads_cut_registers(graph, index, axis) ? Fate::repeated : Fate::whole;
  }
  const auto where = find_axis(op.space, axis);
  if (std::count_if(op.space.begin(), op.space.end(),
                    [&](const Extent& extent) { return extent.axis == axis; }) > 1) {
    return refuse(op, "has them as rows and as columns");
  }
  if (!where || moves_box(op)) return Fate::whole;
  if (op.action == Action::product && *where == kContracted) {
    return contracts_from_memory(graph, index, axis) ? Fate::shared_product : Fate::partial_sums;
  }
  if (op.reduced && *op.reduced == *where) {
    return refuse(op, "combines them with each other");
  }
  return Fate::repeated;
}

/// Repeats row vectors that only repeated ops read in every part: cheaper than a transfer.
void repeat_row_vectors(const TileGraph& graph, std::vector<Fate>& fates) {
  const auto repeats = [&](std::size_t u) {
    const TileOp& op = graph.ops[u];
    if (fates[u] != Fate::whole || op.home != Home::registers || !is_row(op.result)) return false;
    if (op.action != Action::load && op.action != Action::elementwise) return false;
    bool read = false;
    for (const TileEdge& edge : graph.edges) {
      if (edge.from.index() != u || edge.to.index() == u) continue;
      if (fates[edge.to.index()] != Fate::repeated) return false;
      read = true;
    }
    return read;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t u = graph.ops.size(); u-- > 0;) {
      if (!repeats(u)) continue;
      fates[u] = Fate::repeated;
      changed = true;
    }
  }
}

void cut(Space& space, AxisId axis, std::int64_t rows) {
  for (Extent& extent : space) {
    if (extent.axis == axis) extent.size = rows;
  }
}

bool is_split(Fate fate) { return fate == Fate::repeated || fate == Fate::partial_sums; }

class Cutter {
 public:
  Cutter(const TileGraph& graph, AxisId axis, std::int64_t rows, std::vector<Fate> fates)
      : graph_(graph), axis_(axis), rows_(rows), fates_(std::move(fates)) {
    parts_ = static_cast<std::size_t>(graph.axes[axis.index()].size / rows);
    out_.axes = graph.axes;
    out_.invariant_buffers = graph.invariant_buffers;
    out_.warnings = graph.warnings;
    out_.notes = graph.notes;
  }

  SubTiling run() {
    for (std::size_t u = 0; u < graph_.ops.size(); ++u) place(u);
    for (const TileEdge& edge : graph_.edges) join(edge);
    chain_partial_sums();
    for (InvariantBuffer& invariant_buffer : out_.invariant_buffers) {
      if (invariant_buffer.home == Home::registers) cut(invariant_buffer.space, axis_, rows_);
    }
    return {std::move(out_), static_cast<int>(parts_), rows_};
  }

 private:
  void place(std::size_t u) {
    const TileOp& op = graph_.ops[u];
    std::vector<TileOpId> copies;
    const std::size_t count = is_split(fates_[u]) ? parts_ : 1;
    for (std::size_t part = 0; part < count; ++part) {
      copies.push_back(TileOpId(out_.ops.size()));
      TileOp copy = op;
      if (is_split(fates_[u])) {
        copy.part = static_cast<int>(part);
        if (find_axis(op.space, axis_)) {
          copy.row_begin = rows_ * static_cast<std::int64_t>(part);
          copy.row_end = copy.row_begin + rows_;
        }
        const std::int64_t all = elements_of(copy.space);
        cut(copy.space, axis_, rows_);
        cut(copy.result, axis_, rows_);
        for (Piece& piece : copy.pieces) {
          if (piece.elements > 1) {
            piece.elements =
                std::max<std::int64_t>(piece.elements * elements_of(copy.space) / all, 1);
          }
        }
      }
      out_.ops.push_back(std::move(copy));
    }
    copies_.push_back(std::move(copies));
    note(u);
  }

  void note(std::size_t u) {
    const TileOp& op = graph_.ops[u];
    const std::string name = op.name + "' (" + op.sources[0].text + ") ";
    if (fates_[u] == Fate::shared_product) {
      out_.notes.push_back("sub-tiles: '" + name +
                           "contracts the split rows: one product shared by all sub-tiles, which "
                           "reads what each of them wrote to memory");
    } else if (fates_[u] == Fate::partial_sums) {
      out_.notes.push_back("sub-tiles: '" + name +
                           "contracts the split rows: partial sums, each sub-tile adds its own to "
                           "the accumulator of the previous one");
    }
  }

  void join(const TileEdge& edge) {
    const auto& from = copies_[edge.from.index()];
    const auto& to = copies_[edge.to.index()];
    if (fates_[edge.to.index()] == Fate::partial_sums && edge.flow == Flow::in_place) {
      connect(out_, {last(edge.from), to.front(), edge.distance, edge.flow});
      return;
    }
    if (fates_[edge.from.index()] == Fate::partial_sums) {
      for (TileOpId reader : to) connect(out_, {last(edge.from), reader, edge.distance, edge.flow});
      return;
    }
    if (from.size() == to.size() && edge.flow != Flow::memory) {
      for (std::size_t part = 0; part < from.size(); ++part) {
        connect(out_, {from[part], to[part], edge.distance, edge.flow});
      }
      return;
    }
    for (TileOpId source : from) {
      for (TileOpId reader : to) connect(out_, {source, reader, edge.distance, edge.flow});
    }
  }

  TileOpId last(TileOpId op) const { return copies_[op.index()].back(); }

  /// Makes each partial sum start from the sum of the previous part.
  void chain_partial_sums() {
    for (std::size_t u = 0; u < graph_.ops.size(); ++u) {
      if (fates_[u] != Fate::partial_sums) continue;
      for (std::size_t part = 1; part < copies_[u].size(); ++part) {
        connect(out_, {copies_[u][part - 1], copies_[u][part], 0, Flow::in_place});
      }
    }
  }

  const TileGraph& graph_;
  AxisId axis_;
  std::int64_t rows_;
  std::vector<Fate> fates_;
  std::size_t parts_ = 1;
  TileGraph out_;
  std::vector<std::vector<TileOpId>> copies_;
};

/// Text "--subtile takes 64, 128, or 0 for none", for tiles of `size` rows.
std::string rows_that_work(std::int64_t size, std::int64_t block) {
  std::string words = "--subtile takes ";
  for (std::int64_t parts = std::min<std::int64_t>(kMostParts, size); parts >= 1; --parts) {
    const bool fits = size % parts == 0 && (size / parts) % block == 0;
    if (fits) words += std::to_string(size / parts) + ", ";
  }
  return words + "or 0 for none";
}

}  // namespace

std::optional<AxisId> rows_of_products(const TileGraph& graph) {
  std::vector<std::int64_t> work(graph.axes.size(), 0);
  for (const TileOp& op : graph.ops) {
    if (op.action != Action::product) continue;
    work[op.space[kProductRows].axis.index()] += elements_of(op.space);
  }
  const auto most = std::max_element(work.begin(), work.end());
  if (most == work.end() || *most == 0) return std::nullopt;
  return AxisId(static_cast<std::size_t>(most - work.begin()));
}

Result<SubTiling> sub_tile(const TileGraph& graph, std::int64_t rows, std::int64_t block) {
  const SubTiling whole{graph, 1, 0};
  const auto axis = rows_of_products(graph);
  if (rows <= 0 || !axis) return whole;
  const Axis& cut_axis = graph.axes[axis->index()];
  if (cut_axis.size <= rows) return whole;
  if (!cut_axis.frozen.empty()) {
    return fail({}, "the rows cannot be split into sub-tiles: " + cut_axis.frozen);
  }
  const std::string hint = rows_that_work(cut_axis.size, block);
  if (cut_axis.size % rows != 0) {
    return fail({},
                "the rows cannot be split into sub-tiles: " + std::to_string(cut_axis.size) +
                    " rows are no multiple of " + std::to_string(rows),
                hint);
  }
  if (rows % block != 0) {
    return fail({},
                "the rows cannot be split into sub-tiles of " + std::to_string(rows) +
                    ": a product takes a multiple of " + std::to_string(block) + " at once",
                hint);
  }
  if (cut_axis.size / rows > kMostParts) {
    return fail({},
                "the rows cannot be split into sub-tiles: more than " + std::to_string(kMostParts) +
                    " of them",
                hint);
  }
  std::vector<Fate> fates;
  for (std::size_t u = 0; u < graph.ops.size(); ++u) {
    TWILL_TRY(const Fate fate, fate_of(graph, u, *axis));
    fates.push_back(fate);
  }
  repeat_row_vectors(graph, fates);
  return Cutter(graph, *axis, rows, std::move(fates)).run();
}

}  // namespace twill::extract
