#include "twill/tasks/leaf.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/frontend/tasks/formula.h"
#include "twill/frontend/tasks/lowering.h"
#include "twill/ir/user_function.h"
#include "twill/support/check.h"

namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Function;
using tasks::Memory;
using tasks::Node;
using tasks::NodeType;
using tasks::Scalar;
using tasks::Size;
using tasks::Where;

namespace {

/// Common shape of two tiles; in each dimension, one of them may be broadcast.
Extents common_shape(const Extents& a, const Extents& b) {
  if (a.empty()) return b;
  Extents shape = a;
  for (std::size_t d = 0; d < b.size(); ++d) {
    if (shape[d] == 1) shape[d] = b[d];
  }
  return shape;
}

}  // namespace

/// Lowers a leaf on its places. A node becomes a value at its first use.
class LeafLowering {
 public:
  LeafLowering(Lowering& lowering, const Frame& frame, const Where& launched)
      : it_(lowering),
        frame_(frame),
        leaf_(std::get<tasks::Leaf>(frame.node->variant->body)),
        launched_(launched) {}

  Result<void> run() {
    TWILL_TRY(types_, types_of(*frame_.node->task, leaf_));
    tiles_.resize(leaf_.nodes.size());
    std::vector<std::string> made;
    for (const tasks::Output& output : leaf_.outputs) {
      if (frame_.left_out.count(output.argument) > 0) {
        made.emplace_back();
        continue;
      }
      const Place& place = frame_.tensors.at(output.argument);
      const Scalar scalar = find_argument(*frame_.node->task, output.argument)->scalar;
      TWILL_TRY(const TileType type,
                it_.type_of(place.extent, scalar, output.argument, output.where));
      TWILL_TRY(std::string value, leaf_.external ? called(*leaf_.external, type, output)
                                                  : spread(output.node, type, output.where));
      made.push_back(std::move(value));
    }
    for (std::size_t o = 0; o < made.size(); ++o) {
      const tasks::Output& output = leaf_.outputs[o];
      if (frame_.left_out.count(output.argument) > 0) continue;
      const Place& place = frame_.tensors.at(output.argument);
      if (place.is_global) {
        TWILL_TRY_VOID(output.combines ? it_.reduce(*output.combines, place, made[o], output.where)
                                       : it_.store(place, made[o], output.where));
        continue;
      }
      Cell& cell = it_.state_.cells[place.cell];
      if (output.combines) {
        made[o] = put("v",
                      fmt::format("{} {}, {} : {}", op_of(*output.combines, cell.type.scalar),
                                  cell.value, made[o], tensor_text(cell.type)),
                      output.where);
      }
      cell.value = made[o];
    }
    return {};
  }

 private:
  struct Tile {
    std::string value;  ///< empty: no value yet
    TileType type;
  };

  // --- User functions ---------------------------------------------------------------------------

  /// Calls the user's function for each element.
  Result<std::string> called(const tasks::External& external, const TileType& type,
                             const tasks::Output& output) {
    TWILL_TRY(const auto arguments, element_arguments(*frame_.node->task, leaf_));
    const TileType of{type.shape, Scalar::f32, type.layout};
    std::vector<std::string> operands, types;
    for (const tasks::ElementArgument& argument : arguments) {
      TWILL_TRY(Tile from, tile(argument.node));
      from = converted(from, Scalar::f32, output.where);
      operands.push_back(spread(from, of, output.where));
      types.push_back(tensor_text(of));
    }
    TWILL_TRY(const std::string meaning, formula_of(leaf_, types_, arguments));
    const auto code = escaped(external.code), name = escaped(external.function);
    const auto symbol = fmt::format("{}\", {} = \"{}", name, ir::kMeaning, meaning);
    const std::string text =
        call_text({ir::kUserLibrary, code, symbol}, operands, types, tensor_text(of));
    return converted({put("e", text, output.where), of}, type.scalar, output.where).value;
  }

  std::size_t scope() const { return it_.state_.text.innermost(); }
  std::string put(const std::string& name, const std::string& text, const Where& where) {
    return it_.state_.text.once(scope(), name, text, where);
  }
  const Place& place_of(const Node& node) const { return frame_.tensors.at(node.argument); }

  Memory memory_of(const std::string& argument) const {
    const auto& arguments = frame_.node->task->arguments;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      if (arguments[a].name == argument) return frame_.node->memories[a];
    }
    return Memory::registers;
  }

  std::string constant(double number, const TileType& type, const Where& where) {
    const std::string text = number_text(number, type.scalar);
    return it_.state_.text.once(
        0, "v",
        type.shape.empty() ? fmt::format("arith.constant {} : {}", text, tensor_text(type))
                           : fmt::format("arith.constant dense<{}> : {}", text, tensor_text(type)),
        where);
  }

  /// The tile of a node, in registers.
  Result<Tile> tile(std::size_t index) {
    if (!tiles_[index].value.empty()) return tiles_[index];
    const Node& node = leaf_.nodes[index];
    TWILL_TRY(tiles_[index], made(index, node));
    return tiles_[index];
  }

  /// Broadcasts the node to `type`.
  Result<std::string> spread(std::size_t index, const TileType& type, const Where& where) {
    const Node& node = leaf_.nodes[index];
    if (types_[index].is_constant) return constant(node.number, type, where);
    TWILL_TRY(const Tile from, tile(index));
    return spread(from, type, where);
  }
  std::string spread(Tile from, const TileType& type, const Where& where) {
    from = laid(from, type.layout, where);
    if (from.type.shape == type.shape) return from.value;
    const char* op = from.type.shape.empty() ? "tt.splat" : "tt.broadcast";
    return put(
        "w",
        fmt::format("{} {} : {} -> {}", op, from.value, tensor_text(from.type), tensor_text(type)),
        where);
  }

  /// Converts the tile to a layout.
  Tile laid(const Tile& from, const std::string& layout, const Where& where) {
    if (from.type.layout == layout || from.type.shape.empty()) return from;
    const TileType type{from.type.shape, from.type.scalar, layout};
    const std::string text = fmt::format("ttg.convert_layout {} : {} -> {}", from.value,
                                         tensor_text(from.type), tensor_text(type));
    return {put("y", text, where), type};
  }
  Tile at_home(const Tile& from, const Where& where) {
    return laid(from, layouts().home(from.type.shape), where);
  }
  TileLayouts& layouts() { return it_.state_.text.layouts(); }

  Result<Tile> made(std::size_t index, const Node& node) {
    const Scalar scalar = types_[index].scalar;
    switch (node.function) {
      case Function::argument:
        return argument(node);
      case Function::cast:
        return cast(node);
      case Function::mma:
        return product(node, scalar);
      case Function::iota:
        return counted(node);
      case Function::row_max:
      case Function::row_sum:
        return reduced(node);
      case Function::column:
      case Function::row: {
        TWILL_TRY(Tile from, tile(node.operands[0]));
        const bool row = node.function == Function::row;
        TileType type = from.type;
        type.layout =
            row ? layouts().row(from.type.shape[0]) : layouts().column(from.type.shape[0]);
        from = laid(from, TileLayouts::without(row ? 0 : 1, type.layout), node.where);
        type.shape.insert(row ? type.shape.begin() : type.shape.end(), 1);
        const std::string text =
            fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", from.value, row ? 0 : 1,
                        tensor_text(from.type), tensor_text(type));
        return Tile{put("u", text, node.where), type};
      }
      case Function::transpose: {
        TWILL_TRY(Tile from, tile(node.operands[0]));
        const int bytes = bytes_of(scalar);
        from = laid(from, layouts().loaded(from.type.shape, bytes), node.where);
        const TileType type{{from.type.shape[1], from.type.shape[0]},
                            scalar,
                            layouts().turned(from.type.shape, bytes)};
        const std::string text = fmt::format("tt.trans {} {{order = array<i32: 1, 0>}} : {} -> {}",
                                             from.value, tensor_text(from.type), tensor_text(type));
        return Tile{put("t", text, node.where), type};
      }
      default:
        return elementwise(node, scalar);
    }
  }

  Result<Tile> counted(const Node& node) {
    TWILL_TRY(const TileType type, it_.type_of({substituted(node.length, frame_.sizes)},
                                               Scalar::i32, "iota", node.where));
    const std::string text = fmt::format("tt.make_range {{end = {} : i32, start = 0 : i32}} : {}",
                                         type.shape[0], tensor_text(type));
    const Tile from{it_.state_.text.once(0, "r", text, node.where), type};
    const auto first = frame_.first.find(node.length.name());
    if (first == frame_.first.end() || first->second == 0) return from;
    const std::string by = constant(static_cast<double>(first->second), type, node.where);
    return Tile{
        it_.state_.text.once(
            0, "r", fmt::format("arith.addi {}, {} : {}", from.value, by, tensor_text(type)),
            node.where),
        type};
  }

  Result<Tile> argument(const Node& node) {
    if (has_position(*frame_.node->task, node.argument)) {
      const Size position = substituted(Size::named(node.argument), frame_.sizes);
      return Tile{it_.integer(position, node.where), {{}, Scalar::i32}};
    }
    const Place& place = place_of(node);
    if (place.is_global) {
      const bool around_loops = scope() == 0;  // no time to wait for a copy to shared memory
      TWILL_TRY(const Loaded loaded, it_.load(place, node.argument, node.where, around_loops));
      return at_home({loaded.value, loaded.type}, node.where);
    }
    const Cell& cell = it_.state_.cells[place.cell];
    if (!cell.value.empty()) return Tile{cell.value, cell.type};
    return fail_task("T06", launched_,
                     fmt::format("'{}' reads '{}', which has no value here: it is written only "
                                 "within a loop, or not at all",
                                 frame_.node->task->name, cell.name),
                     "let a task write it before the loop or condition");
  }

  Result<Tile> elementwise(const Node& node, Scalar scalar) {
    TileType of{{}, scalar};  // type of the operands
    for (const std::size_t operand : node.operands) {
      if (types_[operand].is_constant) continue;
      TWILL_TRY(const Tile from, tile(operand));
      of.shape = common_shape(of.shape, from.type.shape);
      if (is_comparison(node.function)) of.scalar = from.type.scalar;
    }
    if (!of.shape.empty()) of.layout = layouts().home(of.shape);
    const TileType condition{of.shape, Scalar::i1, of.layout};
    const bool selects = node.function == Function::select;
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      TWILL_TRY(std::string value,
                spread(node.operands[i], selects && i == 0 ? condition : of, node.where));
      operands.push_back(std::move(value));
    }
    if (node.function == Function::tanh) return tanh_of({operands[0], of}, node.where);
    if (node.function == Function::opposite) operands.push_back(constant(1, of, node.where));
    if (node.function == Function::neg) operands.push_back(constant(-1, of, node.where));
    std::string types = tensor_text(of);
    if (selects && !of.shape.empty()) types = tensor_text(condition) + ", " + types;
    const std::string text = fmt::format("{} {} : {}", op_of(node.function, of.scalar),
                                         fmt::join(operands, ", "), types);
    of.scalar = scalar;
    return Tile{put("v", text, node.where), of};
  }

  /// By CUDA's device library, which has f32 alone: Triton lowers no math.tanh.
  Tile tanh_of(const Tile& from, const Where& where) {
    const Tile wide = converted(from, Scalar::f32, where);
    const std::string type = tensor_text(wide.type);
    const auto text = call_text({"", "", "__nv_tanhf"}, {wide.value}, {type}, type);
    return converted({put("v", text, where), wide.type}, from.type.scalar, where);
  }

  Result<Tile> cast(const Node& node) {
    TWILL_TRY(const Tile from, tile(node.operands[0]));
    return converted(from, node.scalar, node.where);
  }

  Tile converted(const Tile& from, Scalar scalar, const Where& where) {
    if (from.type.scalar == scalar) return from;
    Tile at = from;
    const auto convert = [&](const char* op, Scalar to) {
      const TileType type{at.type.shape, to, at.type.layout};
      at = {put("h",
                fmt::format("{} {} : {} to {}", op, at.value, tensor_text(at.type),
                            tensor_text(type)),
                where),
            type};
    };
    const auto convert_f8 = [&](const char* rounding, Scalar to) {
      const TileType type{at.type.shape, to, at.type.layout};
      at = {put("h",
                fmt::format("tt.fp_to_fp {}{} : {} -> {}", at.value, rounding, tensor_text(at.type),
                            tensor_text(type)),
                where),
            type};
    };
    if (scalar == Scalar::i32) {
      convert("arith.extsi", scalar);
      return at;
    }
    if (is_whole(at.type.scalar)) convert("arith.sitofp", Scalar::f32);
    if (is_f8(at.type.scalar)) convert_f8("", Scalar::f32);
    if (at.type.scalar != Scalar::f32) convert("arith.extf", Scalar::f32);
    if (is_f8(scalar)) {
      convert_f8(", rounding = rtne", scalar);
    } else if (scalar != Scalar::f32) {
      convert("arith.truncf", scalar);
    }
    return at;
  }

  Result<Tile> reduced(const Node& node) {
    TWILL_TRY(const Tile from, tile(node.operands[0]));
    const TileType type{
        {from.type.shape[0]}, from.type.scalar, TileLayouts::without(1, from.type.layout)};
    const std::string scalar(ir_name_of(type.scalar));
    const std::string indent(4 + 2 * scope(), ' ');
    const std::string text = fmt::format(
        "\"tt.reduce\"({0}) <{{axis = 1 : i32}}> ({{\n{1}^bb0(%left_: {2}, %right_: {2}):\n{1}  "
        "%both_ = {3} %left_, %right_ : {2}\n{1}  tt.reduce.return %both_ : {2}\n{1}}}) : ({4}) -> "
        "{5}",
        from.value, indent, scalar, op_of(node.function, type.scalar), tensor_text(from.type),
        tensor_text(type));
    return Tile{put("r", text, node.where), type};
  }

  // --- Products ---------------------------------------------------------------------------------

  struct Operand {
    std::string value;
    std::string type;
    Extents shape;
    std::optional<Tile> tile = {};  ///< in registers
    bool along_depth = true;        ///< rows of the tensor run along the depth
  };

  /// Operand of a product: a buffer, or a tile in registers for the left side.
  Result<Operand> operand(std::size_t index, bool right, const Where& where) {
    const Node* node = &leaf_.nodes[index];
    const bool transposed = node->function == Function::transpose;
    if (transposed) node = &leaf_.nodes[node->operands[0]];
    const bool named = node->function == Function::argument;
    if (named && memory_of(node->argument) == Memory::shared) {
      TWILL_TRY(Operand made, buffer(*node, transposed, where));
      made.along_depth = transposed == right;
      return made;
    }
    if (right) {
      return fail_task(
          "M09", where,
          "the right operand of 'mma' is an argument in shared memory, or transpose of "
          "one",
          "write it to a tensor first, which another task reads");
    }
    TWILL_TRY(const Tile from, tile(index));
    return Operand{from.value, tensor_text(from.type), from.type.shape, from};
  }

  /// The swizzle that the mapping states, else the largest that divides a row.
  Result<int> swizzle_of_operand(const Node& node, const TileType& type, const Where& where) const {
    const int largest = operand_swizzle(type);
    if (largest == 0) {
      return fail_task(
          "M09", where,
          fmt::format("rows of {} {} of '{}' have no layout in shared memory that "
                      "'mma' reads",
                      type.shape.back(), name_of(type.scalar), node.argument),
          "a row has a multiple of 32 bytes; laid the other way, as [N, K] for [K, N], "
          "it has the depth");
    }
    const auto stated = frame_.node->swizzles.find(node.argument);
    if (stated == frame_.node->swizzles.end()) return largest;
    if (stated->second.bytes <= largest) return stated->second.bytes;
    return fail_task(
        "M09", stated->second.where,
        fmt::format("rows of '{}' have {} bytes, which {} do not divide", node.argument,
                    type.shape.back() * bytes_of(type.scalar), stated->second.bytes),
        fmt::format("state '{} {}', or nothing", tasks::kSwizzle, largest));
  }

  Result<Operand> buffer(const Node& node, bool transposed, const Where& where) {
    const Place& place = place_of(node);
    TileType type;
    std::string value;
    std::optional<Tile> from;
    if (place.is_global) {
      TWILL_TRY(type, it_.type_of(place, where));
    } else {
      TWILL_TRY(from, argument(node));
      type = from->type;
    }
    TWILL_TRY(const int swizzle, swizzle_of_operand(node, type, where));
    if (from) {
      it_.state_.text.use_layout(swizzle, false, 8 * bytes_of(type.scalar));
      value = put("s",
                  fmt::format("ttg.local_alloc {} : ({}) -> {}", from->value, tensor_text(type),
                              buffer_text(type, swizzle, false)),
                  where);
    } else {
      TWILL_TRY(value, it_.load_shared(place, node.argument, swizzle, where));
    }
    const std::string text = buffer_text(type, swizzle, false);
    if (!transposed) return Operand{value, text, type.shape};
    it_.state_.text.use_layout(swizzle, true, 8 * bytes_of(type.scalar));
    const TileType turned{{type.shape[1], type.shape[0]}, type.scalar};
    const std::string turned_text = buffer_text(turned, swizzle, true);
    // Next to the buffer, in the buffer's scope.
    const std::size_t where_to = place.is_global ? it_.scope_of(place) : scope();
    const std::string view = it_.state_.text.once(
        where_to, "t",
        fmt::format("ttg.memdesc_trans {} {{order = array<i32: 1, 0>}} : {} -> {}", value, text,
                    turned_text),
        where);
    return Operand{view, turned_text, turned.shape};
  }

  /// Writes a product. `sums`: type of its sums.
  Result<Tile> product(const Node& node, Scalar sums) {
    TWILL_TRY(Operand a, operand(node.operands[0], false, node.where));
    TWILL_TRY(const Operand b, operand(node.operands[1], true, node.where));
    TileType type{{a.shape[0], b.shape[1]}, sums};
    const Scalar scalar = types_[node.operands[0]].scalar;
    if (is_byte(scalar) && (a.tile || !a.along_depth || !b.along_depth)) {
      return fail_task(
          "M09", node.where,
          "tensor cores read operands of 8 bits from shared memory, along the depth",
          "keep them as [M, K] and [N, K], and let mma(A, transpose(B)) multiply them");
    }
    const std::int64_t depth = 32 / bytes_of(scalar);
    TWILL_TRY_VOID(check_instruction(type, a.shape[1], depth, node.where));
    if (it_.state_.products.empty()) {
      it_.state_.depth = depth;
      it_.state_.is_whole = is_whole(scalar);
    }
    type.layout = layouts().product(type.shape[1], depth, is_whole(scalar));
    it_.state_.products.push_back(type.shape);
    if (a.tile) {
      const Tile tile = laid(*a.tile, TileLayouts::left_operand(type.layout), node.where);
      a.value = tile.value;
      a.type = tensor_text(tile.type);
    }
    std::string onto = constant(0, type, node.where);
    if (node.operands.size() > 2) {
      TWILL_TRY(onto, spread(node.operands[2], type, node.where));
    }
    // Triton refuses exact f32 sums of 8-bit products.
    const char* inexact = is_f8(scalar) ? ", maxNumImpreciseAcc = 1073741824 : i32" : "";
    const std::string text =
        fmt::format("ttng.warp_group_dot {}, {}, {} {{inputPrecision = 0 : i32{}}} : {} * {} -> {}",
                    a.value, b.value, onto, inexact, a.type, b.type, tensor_text(type));
    return Tile{it_.state_.text.put(scope(), "d", text, node.where), type};
  }

  /// `least`: depth of an instruction.
  static Result<void> check_instruction(const TileType& type, std::int64_t depth,
                                        std::int64_t least, const Where& where) {
    constexpr std::int64_t kRows = 64, kColumns = 8, kMostColumns = 256;
    const std::int64_t rows = type.shape[0], columns = type.shape[1];
    const bool fits = rows % kRows == 0 && columns % kColumns == 0 && columns <= kMostColumns &&
                      depth % least == 0;
    if (fits) return {};
    return fail_task("M09", where,
                     fmt::format("there is no instruction for a product of {} rows, {} columns and "
                                 "depth {}",
                                 rows, columns, depth),
                     fmt::format("rows are a multiple of 64, columns of 8 up to 256, and the depth "
                                 "of {}",
                                 least));
  }

  Lowering& it_;
  const Frame& frame_;
  const tasks::Leaf& leaf_;
  const Where& launched_;
  std::vector<NodeType> types_;
  std::vector<Tile> tiles_;
};

Result<void> Lowering::leaf(const Frame& frame, const Where& where) {
  return LeafLowering(*this, frame, where).run();
}

}  // namespace twill::frontend::from_tasks
