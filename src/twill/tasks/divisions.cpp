#include "twill/tasks/divisions.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace twill::tasks {
namespace {

/// The first quotient in a size that leaves a remainder, whatever its other names are.
std::optional<NoNumber> remainder_in(const Size& size) {
  if (size.constant() || size.kind() == Size::Kind::name) return std::nullopt;
  for (const Size* of : {&size.left(), &size.right()}) {
    if (auto found = remainder_in(*of)) return found;
  }
  const auto value = value_of(size, {});
  if (value || !value.error().has_remainder) return std::nullopt;
  return value.error();
}

/// Walks a tree with the numbers that each node knows. A size without a number is handed on as a
/// name of its own. Else each task of a chain could double the text of a size.
class Divisions {
 public:
  using Shape = std::vector<Size>;

  explicit Divisions(const Tree& tree) : tree_(tree) {}

  Result<void> run() const {
    const TreeNode& root = tree_.root;
    const SizeMap sizes = tunables_of(root);
    std::vector<Shape> shapes;
    for (const Argument& argument : root.task->arguments) {
      shapes.push_back(handed_on(substituted(argument.shape, sizes)));
    }
    return check(root, shapes, {});
  }

 private:
  /// A variant that is walked.
  struct Frame {
    const TreeNode& node;
    SizeMap sizes;
    std::map<std::string, Shape> tensors;
    std::size_t launches = 0;
  };

  static SizeMap tunables_of(const TreeNode& node) {
    SizeMap sizes;
    for (const auto& [name, value] : node.tunables) sizes[name] = Size(value);
    return sizes;
  }

  static Shape substituted(Shape shape, const SizeMap& sizes) {
    for (Size& size : shape) size = tasks::substituted(size, sizes);
    return shape;
  }

  Size handed_on(const Size& size) const {
    if (size.constant() || size.kind() == Size::Kind::name) return size;
    return Size::named(fmt::format("?{}", unknown_++));
  }
  Shape handed_on(Shape shape) const {
    for (Size& size : shape) size = handed_on(size);
    return shape;
  }

  static Result<Size> known(const Size& size, const Frame& frame, const Where& where) {
    Size here = tasks::substituted(size, frame.sizes);
    const auto remainder = remainder_in(here);
    if (!remainder) return here;
    return fail_task("T11", where, fmt::format("{}: {}", to_string(size), remainder->why),
                     "give a size that divides it; blocks without `exact`, as many as `cdiv` says, "
                     "end at the edge");
  }

  Result<void> check(const TreeNode& node, const std::vector<Shape>& shapes,
                     const Shape& positions) const {
    if (node.variant->is_leaf()) return {};
    Frame frame{node, tunables_of(node), {}};
    for (std::size_t p = 0; p < positions.size(); ++p) {
      frame.sizes[node.task->positions[p]] = positions[p];
    }
    for (std::size_t a = 0; a < shapes.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      for (std::size_t d = 0; d < shapes[a].size(); ++d) {
        const std::string& name = argument.shape[d].name();
        if (!name.empty()) frame.sizes.try_emplace(name, shapes[a][d]);
      }
      frame.tensors[argument.name] = shapes[a];
    }
    return check(std::get<Inner>(node.variant->body).body, frame);
  }

  Result<void> check(const std::vector<Statement>& body, Frame& frame) const {
    for (const Statement& statement : body) {
      if (const auto* made = std::get_if<Make>(&statement.what)) {
        Shape& shape = frame.tensors[made->name];
        shape.clear();
        for (const Size& size : made->shape) {
          TWILL_TRY(const Size here, known(size, frame, made->where));
          shape.push_back(handed_on(here));
        }
      } else if (const auto* range = std::get_if<Range>(&statement.what)) {
        TWILL_TRY_VOID(check(*range, frame));
      } else {
        TWILL_TRY_VOID(check(std::get<Launch>(statement.what), frame));
      }
    }
    return {};
  }

  /// Indices are names of their own. A body that is never carried out may have any numbers.
  Result<void> check(const Range& range, Frame& frame) const {
    bool never = false;
    if (range.when) {
      TWILL_TRY(const Size left, known(range.when->left, frame, range.where));
      TWILL_TRY(const Size right, known(range.when->right, frame, range.where));
      never = count_of({left, range.when->how, right}) == Size(0);
    }
    for (const Dimension& it : range.dimensions) {
      TWILL_TRY(const Size extent, known(it.extent, frame, range.where));
      never = never || extent.constant().value_or(1) < 1;
    }
    if (never) {
      frame.launches += count_launches(range.body);
      return {};
    }
    const SizeMap outside = frame.sizes;
    for (const Dimension& it : range.dimensions) frame.sizes.erase(it.index);
    TWILL_TRY_VOID(check(range.body, frame));
    frame.sizes = outside;
    return {};
  }

  Result<void> check(const Launch& launch, Frame& frame) const {
    const TreeNode& child = frame.node.children[frame.launches++];
    std::vector<Shape> shapes;
    for (const Piece& piece : launch.pieces) {
      TWILL_TRY(Shape shape, shape_of_piece(piece, frame));
      shapes.push_back(handed_on(std::move(shape)));
    }
    Shape positions;
    for (const Size& size : launch.positions) {
      TWILL_TRY(const Size here, known(size, frame, launch.where));
      positions.push_back(handed_on(here));
    }
    return check(child, shapes, positions);
  }

  static Result<Shape> shape_of_piece(const Piece& piece, const Frame& frame) {
    Shape shape = frame.tensors.at(piece.tensor);
    for (const Block& block : piece.blocks) {
      for (const auto* sizes : {&block.tile, &block.index, &block.step, &block.every}) {
        for (const Size& size : *sizes) {
          TWILL_TRY_VOID(known(size, frame, piece.where));
        }
      }
      const Block here = tasks::substituted(block, frame.sizes);
      TWILL_TRY_VOID(check_exact(here, shape, piece));
      shape = shape_of(here, shape);
    }
    return shape;
  }

  static Result<void> check_exact(const Block& block, const Shape& shape, const Piece& piece) {
    const bool divides = block.edge == Edge::exact && block.cut == Cut::blocks;
    for (std::size_t d = 0; divides && d < shape.size(); ++d) {
      const std::int64_t tile = block.tile[d].constant().value_or(0);
      if (tile < 1 || shape[d].constant().value_or(0) % tile == 0) continue;
      return fail_task("T11", piece.where,
                       fmt::format("blocks of {} do not divide the {} of '{}'", tile,
                                   *shape[d].constant(), piece.tensor),
                       "leave `exact` out, or give another size");
    }
    return {};
  }

  const Tree& tree_;
  mutable std::size_t unknown_ = 0;  ///< names given to sizes without a number
};

}  // namespace

Result<void> check_divisions(const Tree& tree) { return Divisions(tree).run(); }

}  // namespace twill::tasks
