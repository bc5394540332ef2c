#include "twill/tasks/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "twill/execute/evaluate.h"
#include "twill/execute/formula.h"
#include "twill/execute/rounding.h"
#include "twill/support/check.h"
#include "twill/tasks/leaf.h"

namespace twill::tasks {
namespace {

using execute::Numbers;
using execute::Shape;
using execute::Tile;

/// Common shape of two tiles; in each dimension, one of them may be broadcast.
Shape common_shape(const Shape& a, const Shape& b) {
  if (a.empty()) return b;
  Shape shape = a;
  for (std::size_t d = 0; d < b.size(); ++d) {
    if (shape[d] == 1) shape[d] = b[d];
  }
  return shape;
}

/// Broadcasts a tile to `shape`.
Tile spread(const Tile& tile, const Shape& shape) {
  if (tile.shape == shape) return tile;
  Tile out{shape, Numbers(static_cast<std::size_t>(execute::size_of(shape)))};
  const Shape strides = execute::strides_of(tile.shape);
  Shape at(shape.size(), 0);
  for (float& number : out.numbers()) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < tile.shape.size(); ++d) {
      from += tile.shape[d] == 1 ? 0 : at[d] * strides[d];
    }
    number = tile.numbers()[static_cast<std::size_t>(from)];
    for (std::size_t d = shape.size(); d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
  }
  return out;
}

Tile transposed(const Tile& tile) {
  const auto rows = static_cast<std::size_t>(tile.shape[0]);
  const auto columns = static_cast<std::size_t>(tile.shape[1]);
  Tile out{{tile.shape[1], tile.shape[0]}, Numbers(rows * columns)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      out.numbers()[c * rows + r] = tile.numbers()[r * columns + c];
    }
  }
  return out;
}

Tile reduced(Function function, const Tile& tile) {
  const auto rows = static_cast<std::size_t>(tile.shape[0]);
  const auto columns = static_cast<std::size_t>(tile.shape[1]);
  Tile out{{tile.shape[0]}, Numbers(rows)};
  for (std::size_t r = 0; r < rows; ++r) {
    float sum = columns > 0 ? tile.numbers()[r * columns] : 0;
    for (std::size_t c = 1; c < columns; ++c) {
      const float next = tile.numbers()[r * columns + c];
      sum = function == Function::row_max ? std::fmax(sum, next) : sum + next;
    }
    out.numbers()[r] = sum;
  }
  return out;
}

/// Rounds elements. Whole numbers that f32 may not represent become NaN, which is not followed.
void round_all(Scalar scalar, Tile& tile) {
  if (scalar == Scalar::f32 || scalar == Scalar::i1) return;
  for (float& number : tile.numbers()) number = rounded(scalar, static_cast<double>(number));
}

class Evaluation {
 public:
  Evaluation(const Leaf& leaf, std::vector<NodeType> types,
             const std::map<std::string, Tile>& inputs,
             const std::map<std::string, std::int64_t>& sizes)
      : leaf_(leaf), types_(std::move(types)), inputs_(inputs), sizes_(sizes) {}

  std::vector<Tile> run() {
    for (std::size_t i = 0; i < leaf_.nodes.size(); ++i) {
      tiles_.push_back(tile_of(leaf_.nodes[i]));
      round_all(types_[i].scalar, tiles_.back());
    }
    return std::move(tiles_);
  }

 private:
  Tile tile_of(const Node& node) const {
    switch (node.function) {
      case Function::argument:
        return inputs_.at(node.argument);
      case Function::constant:
        return {{}, Numbers{static_cast<float>(node.number)}};
      case Function::cast:
        return tiles_[node.operands[0]];
      case Function::transpose:
        return transposed(tiles_[node.operands[0]]);
      case Function::row_max:
      case Function::row_sum:
        return reduced(node.function, tiles_[node.operands[0]]);
      case Function::mma:
        return product(node);
      case Function::select:
        return selected(node);
      case Function::iota:
        return counted(node);
      case Function::column:
      case Function::row: {
        Tile tile = tiles_[node.operands[0]];
        tile.shape.insert(node.function == Function::row ? tile.shape.begin() : tile.shape.end(),
                          1);
        return tile;
      }
      default:
        return elementwise(node);
    }
  }

  Tile counted(const Node& node) const {
    const std::int64_t length = value_of(node.length, sizes_).value_or(0);
    Tile tile{{length}, Numbers(static_cast<std::size_t>(std::max<std::int64_t>(0, length)))};
    for (std::size_t i = 0; i < tile.size(); ++i) tile.numbers()[i] = static_cast<float>(i);
    return tile;
  }

  Tile selected(const Node& node) const {
    Shape shape;
    for (const std::size_t operand : node.operands) {
      shape = common_shape(shape, tiles_[operand].shape);
    }
    const Tile condition = spread(tiles_[node.operands[0]], shape);
    Tile out = spread(tiles_[node.operands[1]], shape);
    const Tile other = spread(tiles_[node.operands[2]], shape);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (condition.numbers()[i] == 0) out.numbers()[i] = other.numbers()[i];
    }
    return out;
  }

  Tile elementwise(const Node& node) const {
    Scalar scalar = Scalar::f32;
    Shape shape;
    for (const std::size_t operand : node.operands) {
      if (!types_[operand].is_constant) scalar = types_[operand].scalar;
      shape = common_shape(shape, tiles_[operand].shape);
    }
    std::vector<Tile> operands;
    for (const std::size_t operand : node.operands) {
      operands.push_back(spread(tiles_[operand], shape));
      if (types_[operand].is_constant) round_all(scalar, operands.back());
    }
    Tile out = operands[0];
    const Numbers& right = operands.back().numbers();
    const ir::FormulaWord word = word_of(node.function);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out.numbers()[i] = execute::applied(word, out.numbers()[i], right[i], 0);
    }
    return out;
  }

  Tile product(const Node& node) const {
    const Tile& a = tiles_[node.operands[0]];
    const Tile& b = tiles_[node.operands[1]];
    Tile sums{{a.shape[0], b.shape[1]}, {}};
    sums.data = Numbers(sums.size());
    if (node.operands.size() > 2) sums = spread(tiles_[node.operands[2]], sums.shape);
    execute::multiply_add(a, b, sums);
    return sums;
  }

  const Leaf& leaf_;
  std::vector<NodeType> types_;
  const std::map<std::string, Tile>& inputs_;
  const std::map<std::string, std::int64_t>& sizes_;
  std::vector<Tile> tiles_;
};

}  // namespace

Tile combined(Function by, Scalar scalar, const Tile& a, const Tile& b) {
  Tile both = a;
  const ir::FormulaWord word = word_of(by);
  for (std::size_t i = 0; i < both.size(); ++i) {
    both.numbers()[i] = execute::applied(word, both.numbers()[i], b.numbers()[i], 0);
  }
  round_all(scalar, both);
  return both;
}

Tile position_tile(std::int64_t position) { return {{}, Numbers{static_cast<float>(position)}}; }

ir::FormulaWord word_of(Function function) {
  // Uses that both enumerations list these functions in one order; a test compares their spellings.
  constexpr int kFrom = static_cast<int>(ir::FormulaWord::add) - static_cast<int>(Function::add);
  TWILL_CHECK(is_elementwise(function), "formulas are made of element-wise functions");
  return static_cast<ir::FormulaWord>(static_cast<int>(function) + kFrom);
}

float rounded(Scalar scalar, double number) {
  if (is_whole(scalar)) {
    const double whole = std::nearbyint(number);
    return can_be(scalar, whole) ? static_cast<float>(whole)
                                 : std::numeric_limits<float>::quiet_NaN();
  }
  ir::TypeNode type;
  type.name = ir_name_of(scalar);
  const auto format = execute::format_of(&type);
  TWILL_CHECK(format, "every type of a leaf has a format");
  return execute::round_to(*format, number);
}

std::vector<Tile> evaluate(const TaskValue& task, const Leaf& leaf,
                           const std::map<std::string, Tile>& inputs,
                           const std::map<std::string, Shape>& shapes,
                           const std::map<std::string, std::int64_t>& sizes) {
  auto types = types_of(task, leaf);
  TWILL_CHECK(types, "leaves are checked before they are evaluated");
  const std::vector<Tile> tiles = Evaluation(leaf, *std::move(types), inputs, sizes).run();
  std::vector<Tile> out;
  for (const Output& output : leaf.outputs) {
    Tile tile = spread(tiles[output.node], shapes.at(output.argument));
    round_all(find_argument(task, output.argument)->scalar, tile);
    out.push_back(std::move(tile));
  }
  return out;
}

}  // namespace twill::tasks
