#include "twill/tasks/edges.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

constexpr std::size_t kMostLaunches = 20'000;

/// Content of a tile, in a dimension, beyond the edge of its tensor.
enum class Beyond {
  all_zero,  ///< zeros, as the whole tile is zero
  nothing,   ///< the tile has no edge
  zeros,
  others,
};
bool is_zero(Beyond what) { return what == Beyond::all_zero || what == Beyond::zeros; }

struct Side {
  Beyond what = Beyond::nothing;
  const Piece* from = nullptr;  ///< block with the edge
};
using Sides = std::vector<Side>;  ///< for each dimension

Side worse_of(const Side& a, const Side& b) { return a.what >= b.what ? a : b; }

Side as_others(Side side) {
  side.what = Beyond::others;
  return side;
}

/// Side of a sum. Zeros combined with zeros stay zeros; zeros combined with a tile without an edge
/// do not.
Side added(const Side& a, const Side& b) {
  const Side both = worse_of(a, b);
  if (a.what == Beyond::all_zero || b.what == Beyond::all_zero) return both;
  return a.what == b.what ? both : as_others(both);
}

bool is_zero_number(const Node& node) {
  return node.function == Function::constant && node.number == 0;
}

/// Computes the sides of all nodes of a leaf.
class LeafSides {
 public:
  LeafSides(const TaskValue& task, const Leaf& leaf, const std::map<std::string, Sides>& arguments)
      : task_(task), leaf_(leaf), arguments_(arguments) {}

  Result<std::vector<Sides>> run() {
    for (const Node& node : leaf_.nodes) {
      TWILL_TRY(Sides made, sides_of(node));
      all_.push_back(std::move(made));
    }
    return std::move(all_);
  }

 private:
  const Sides& operand(const Node& node, std::size_t i) const { return all_[node.operands[i]]; }

  Result<Sides> sides_of(const Node& node) const {
    if (is_elementwise(node.function)) return elementwise(node);
    switch (node.function) {
      case Function::argument: {
        const auto known = arguments_.find(node.argument);
        return known == arguments_.end() ? Sides() : known->second;  // a position has no edge
      }
      case Function::constant:
        return Sides();
      case Function::iota:
        return Sides{Side()};
      case Function::mma:
        return product(node);
      case Function::cast:
        return operand(node, 0);
      case Function::column:
        return Sides{operand(node, 0)[0], Side()};
      case Function::row:
        return Sides{Side(), operand(node, 0)[0]};
      case Function::transpose:
        return Sides{operand(node, 0)[1], operand(node, 0)[0]};
      default:
        return reduced(node);
    }
  }

  Result<Sides> reduced(const Node& node) const {
    const Side& along = operand(node, 0)[1];
    const bool is_sum = node.function == Function::row_sum;
    if (along.what == Beyond::others || (along.what == Beyond::zeros && !is_sum)) {
      return refuse(node, along);
    }
    return Sides{operand(node, 0)[0]};
  }

  Result<Sides> product(const Node& node) const {
    const Sides& a = operand(node, 0);
    const Sides& b = operand(node, 1);
    const bool zeros = is_zero(a[1].what) || is_zero(b[0].what);
    const Side along = worse_of(a[1], b[0]);
    if (along.what == Beyond::others && !zeros) return refuse(node, along);
    Sides made{a[0], b[1]};
    if (node.operands.size() < 3 || operand(node, 2).empty()) return made;
    for (std::size_t d = 0; d < 2; ++d) made[d] = added(made[d], operand(node, 2)[d]);
    return made;
  }

  Result<Sides> elementwise(const Node& node) const {
    std::size_t rank = 0;
    for (const std::size_t it : node.operands) rank = std::max(rank, all_[it].size());
    Sides made(rank);
    for (std::size_t d = 0; d < rank; ++d) made[d] = elementwise(node, d);
    return made;
  }

  /// Whether a condition tests the position in a dimension: such a condition masks elements beyond
  /// the edge.
  bool asks_for_position(std::size_t index, std::size_t d) const {
    const Node& node = leaf_.nodes[index];
    if (node.function == Function::iota) return true;
    if (node.function == Function::column && d != 0) return false;
    if (node.function == Function::row && d != 1) return false;
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](std::size_t operand) { return asks_for_position(operand, d); });
  }

  Side elementwise(const Node& node, std::size_t d) const {
    if (node.function == Function::select && asks_for_position(node.operands[0], d)) return Side();
    std::vector<Side> sides;
    bool any_zero = false, all_zero = true;
    Side most;
    for (const std::size_t it : node.operands) {
      const bool is_number = all_[it].empty();
      const Side side = is_number ? Side() : all_[it][d];
      const bool zero = is_number ? is_zero_number(leaf_.nodes[it]) : is_zero(side.what);
      sides.push_back(side);
      any_zero = any_zero || zero;
      all_zero = all_zero && zero;
      most = worse_of(most, side);
    }
    if (most.what < Beyond::zeros) return Side();
    const bool keeps = node.function == Function::mul ? any_zero
                       : node.function == Function::div
                           ? is_zero(sides[0].what) && sides[1].what == Beyond::nothing
                           : all_zero && keeps_zero(node.function);
    most.what = keeps ? Beyond::zeros : Beyond::others;
    return most;
  }

  /// Whether the function of zeros is zero.
  static bool keeps_zero(Function function) {
    switch (function) {
      case Function::exp:
      case Function::exp2:
      case Function::log:
      case Function::log2:
      case Function::rsqrt:
      case Function::opposite:
      case Function::select:
      case Function::iota:
        return false;
      default:
        return !is_comparison(function);
    }
  }

  tl::unexpected<Diagnostic> refuse(const Node& node, const Side& side) const {
    const std::string from = side.from == nullptr ? std::string("a block") : to_string(*side.from);
    const std::string line =
        side.from == nullptr ? "" : fmt::format(" (line {})", side.from->where.at.line);
    return fail_task(
        "T12", node.where,
        fmt::format("'{}' of '{}' goes over what lies beyond the edge of {}{}, which is {}",
                    spelling_of(node.function).name, task_.name, from, line,
                    side.what == Beyond::zeros ? "zeros" : "made of zeros, and not zero"),
        "if its blocks divide the tensor, say so: blocks(..., exact); else say what is beyond: "
        "blocks(..., fill(NUMBER))");
  }

  const TaskValue& task_;
  const Leaf& leaf_;
  const std::map<std::string, Sides>& arguments_;
  std::vector<Sides> all_;
};

/// Sides of a variant's tensor.
struct KnownSides {
  std::size_t cell = 0;  ///< cell with its sides
  std::vector<Size> extents;
  bool is_global = false;
};

class EdgeWalk {
 public:
  Result<void> run(const Tree& tree) {
    SizeMap fixed;
    for (const auto& [name, value] : tree.root.tunables) fixed[name] = Size(value);
    std::vector<KnownSides> arguments;
    for (const Argument& argument : tree.root.task->arguments) {
      KnownSides known{add_cell(Sides(argument.shape.size())), {}, true};
      for (const Size& size : argument.shape) known.extents.push_back(substituted(size, fixed));
      arguments.push_back(std::move(known));
    }
    return walk(tree.root, arguments);
  }

 private:
  struct Frame {
    const TreeNode* node = nullptr;
    SizeMap sizes;
    SizeMap ranges;  ///< extent of each index
    std::map<std::string, KnownSides> tensors;
    std::size_t launches = 0;
  };

  std::size_t add_cell(Sides sides) {
    cells_.push_back(std::move(sides));
    return cells_.size() - 1;
  }

  Result<void> walk(const TreeNode& node, const std::vector<KnownSides>& arguments) {
    if (++launches_ > kMostLaunches) return {};
    Frame frame;
    frame.node = &node;
    for (const auto& [name, value] : node.tunables) frame.sizes[name] = Size(value);
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      for (std::size_t d = 0; d < argument.shape.size(); ++d) {
        const Size& formal = argument.shape[d];
        if (!formal.constant()) frame.sizes.try_emplace(formal.name(), arguments[a].extents[d]);
      }
      frame.tensors[argument.name] = arguments[a];
    }
    if (node.variant->is_leaf()) return leaf(frame);
    return walk_body(std::get<Inner>(node.variant->body).body, frame);
  }

  Result<void> leaf(const Frame& frame) {
    const Leaf& leaf = std::get<Leaf>(frame.node->variant->body);
    std::map<std::string, Sides> arguments;
    for (const auto& [name, known] : frame.tensors) arguments[name] = cells_[known.cell];
    TWILL_TRY(const std::vector<Sides> sides, LeafSides(*frame.node->task, leaf, arguments).run());
    for (const Output& output : leaf.outputs) {
      const KnownSides& known = frame.tensors.at(output.argument);
      if (known.is_global) continue;  // elements beyond the edge are not written
      Sides made = sides[output.node];
      made.resize(cells_[known.cell].size(),  // a number: as without an edge
                  {is_zero_number(leaf.nodes[output.node]) ? Beyond::all_zero : Beyond::nothing});
      for (std::size_t d = 0; output.combines && d < made.size(); ++d) {
        const Side& before = cells_[known.cell][d];
        const bool same = output.combines == Function::add || made[d].what == before.what;
        made[d] = same ? added(made[d], before) : as_others(worse_of(made[d], before));
      }
      cells_[known.cell] = std::move(made);
    }
    return {};
  }

  Result<void> walk_body(const std::vector<Statement>& body, Frame& frame) {
    for (const Statement& statement : body) {
      if (const auto* range = std::get_if<Range>(&statement.what)) {
        TWILL_TRY_VOID(walk_range(*range, frame));
      } else if (const auto* made = std::get_if<Make>(&statement.what)) {
        KnownSides known{add_cell(Sides(made->shape.size())), {}, false};
        for (const Size& size : made->shape) {
          known.extents.push_back(substituted(size, frame.sizes));
        }
        frame.tensors[made->name] = std::move(known);
      } else {
        TWILL_TRY_VOID(launch(std::get<Launch>(statement.what), frame));
      }
    }
    return {};
  }

  /// Walks a range again until iterations no longer change the sides of their tensors.
  Result<void> walk_range(const Range& range, Frame& frame) {
    for (const Dimension& dimension : range.dimensions) {
      frame.ranges[dimension.index] = substituted(dimension.extent, frame.sizes);
    }
    const std::size_t launches = frame.launches;
    bool changed = true;
    while (changed) {
      const std::vector<Sides> before = cells_;
      frame.launches = launches;
      TWILL_TRY_VOID(walk_body(range.body, frame));
      changed = false;
      for (std::size_t c = 0; c < before.size(); ++c) {
        changed = join(before[c], cells_[c]) || changed;
      }
      changed = changed && launches_ <= kMostLaunches;
    }
    return {};
  }

  /// Adds `more` to `sides`. Returns whether `sides` changed.
  static bool join(const Sides& more, Sides& sides) {
    bool changed = false;
    for (std::size_t d = 0; d < sides.size(); ++d) {
      changed = changed || sides[d].what > more[d].what;
      sides[d] = worse_of(sides[d], more[d]);
    }
    return changed;
  }

  Result<void> launch(const Launch& what, Frame& frame) {
    const TreeNode& child = frame.node->children[frame.launches++];
    const std::size_t count = cells_.size();
    std::vector<KnownSides> arguments;
    for (const Piece& piece : what.pieces) arguments.push_back(known_of(piece, frame));
    TWILL_TRY_VOID(walk(child, arguments));
    for (std::size_t p = 0; p < what.pieces.size(); ++p) {
      const KnownSides& whole = frame.tensors.at(what.pieces[p].tensor);
      if (whole.is_global || arguments[p].cell == whole.cell) continue;
      if (cells_[arguments[p].cell].size() != cells_[whole.cell].size()) continue;  // a picked part
      join(cells_[arguments[p].cell], cells_[whole.cell]);
    }
    cells_.resize(count);
    return {};
  }

  KnownSides known_of(const Piece& piece, const Frame& frame) {
    KnownSides known = frame.tensors.at(piece.tensor);
    if (piece.blocks.empty()) return known;
    Sides sides = cells_[known.cell];
    for (const Block& block : piece.blocks) {
      if (block.cut == Cut::pick) {
        const auto at = static_cast<std::ptrdiff_t>(block.picked);
        sides.erase(sides.begin() + at);
        known.extents.erase(known.extents.begin() + at);
        continue;
      }
      if (block.cut == Cut::mma) {
        known.extents = shape_of(block, known.extents);
        continue;
      }
      for (std::size_t d = 0; d < block.tile.size(); ++d) {
        const Size tile = substituted(block.tile[d], frame.sizes);
        const bool edge = (block.edge == Edge::zero || block.edge == Edge::clip) &&
                          (block.cut == Cut::windows
                               ? known.extents[d] != substituted(reach_of(block, d), frame.sizes) ||
                                     block.index[d] != Size(0)
                               : may_have_edge(known.extents[d], tile, block.index[d], frame));
        if (edge) sides[d] = worse_of(sides[d], {Beyond::zeros, &piece});
        known.extents[d] = tile;
      }
    }
    known.cell = add_cell(std::move(sides));
    return known;
  }

  static bool may_have_edge(const Size& extent, const Size& tile, const Size& index,
                            const Frame& frame) {
    if (extent == tile || tile == Size(1)) return false;
    if (extent.constant() && tile.constant() && *tile.constant() > 0) {
      return *extent.constant() % *tile.constant() != 0;
    }
    if (index.kind() != Size::Kind::name) return true;
    const auto range = frame.ranges.find(index.name());
    return range == frame.ranges.end() || range->second != extent / tile;  // `/` is exact
  }

  std::vector<Sides> cells_;
  std::size_t launches_ = 0;
};

}  // namespace

Result<void> check_edges(const Tree& tree) { return EdgeWalk().run(tree); }

}  // namespace twill::tasks
