#include "twill/frontend/ttgir/misfit.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "twill/frontend/ttgir/product_misfit.h"
#include "twill/frontend/ttgir/result_types.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"

namespace twill::frontend::ttgir {
namespace {

using Misfit = std::optional<std::string>;
using Shape = std::vector<std::int64_t>;

ir::Type scalar_of(ir::Type type) {
  const bool is_tile = type->kind == ir::TypeKind::tensor || type->kind == ir::TypeKind::memdesc;
  return is_tile && type->element != nullptr ? type->element : type;
}

bool is_whole(ir::Type type) {
  return type->kind == ir::TypeKind::integer || type->kind == ir::TypeKind::index;
}

bool is_floating(ir::Type type) { return type->kind == ir::TypeKind::floating; }

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::int64_t extent) { return extent != 1; });
  return kept;
}

/// "128x64", or "a scalar".
std::string words_of(const Shape& shape) {
  if (shape.empty()) return "a scalar";
  std::string words;
  for (const std::int64_t extent : shape) {
    words += (words.empty() ? "" : "x") + std::to_string(extent);
  }
  return words;
}

/// Or not known, or nothing at all.
bool is_power_of_two(std::int64_t number) { return number <= 0 || (number & (number - 1)) == 0; }

/// What a cast takes and makes: from one kind of element to another, narrower, wider or neither.
struct Cast {
  ir::OpKind kind;
  bool (*from)(ir::Type);
  bool (*to)(ir::Type);
  int direction = 0;  ///< -1: fewer bits, 1: more
};

constexpr Cast kCasts[] = {
    {ir::OpKind::fpext, is_floating, is_floating, 1},
    {ir::OpKind::fptrunc, is_floating, is_floating, -1},
    {ir::OpKind::sext, is_whole, is_whole, 1},
    {ir::OpKind::zext, is_whole, is_whole, 1},
    {ir::OpKind::trunc, is_whole, is_whole, -1},
    {ir::OpKind::sitofp, is_whole, is_floating, 0},
    {ir::OpKind::uitofp, is_whole, is_floating, 0},
    {ir::OpKind::fptosi, is_floating, is_whole, 0},
    {ir::OpKind::fptoui, is_floating, is_whole, 0},
    {ir::OpKind::index_cast, is_whole, is_whole, 0},
    {ir::OpKind::index_castu, is_whole, is_whole, 0},
    {ir::OpKind::fpcast, is_floating, is_floating, 0},
};

class Fitting {
 public:
  Fitting(const ir::Program& program, ir::OpId id)
      : program_(program), id_(id), op_(program.op(id)) {}

  Misfit misfit() const {
    if (const auto wrong = results()) return wrong;
    if (!all_known()) return {};
    for (const Cast& cast : kCasts) {
      if (cast.kind == op_.kind) return misfit_of(cast);
    }
    if (mma_operands(op_)) return product_misfit(program_, op_);
    if (const auto access = memory_access(op_)) return misfit_of(*access);
    return other();
  }

 private:
  ir::Type type(ir::ValueId value) const { return type_of(program_, value); }
  ir::Type operand(std::size_t i) const { return type(op_.operands[i]); }
  ir::Type result(std::size_t i = 0) const { return type(op_.results[i]); }

  bool all_known() const {
    const auto known = [&](ir::ValueId value) { return is_known(type(value)); };
    return std::all_of(op_.operands.begin(), op_.operands.end(), known) &&
           std::all_of(op_.results.begin(), op_.results.end(), known);
  }

  static std::string count_of(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
  }

  Misfit counts(std::size_t operands, std::size_t results = 1) const {
    if (op_.operands.size() == operands && op_.results.size() == results) return {};
    return in_quotes() + " takes " + count_of(operands, "operand") + " and makes " +
           count_of(results, "result");
  }

  std::string in_quotes() const { return "'" + op_.name + "'"; }

  /// "'tt.trans': %5 has type X, but Y"
  std::string wrong(ir::ValueId value, const std::string& wanted) const {
    return in_quotes() + ": %" + program_.value(value).name + " has type " + type(value)->text +
           ", but " + wanted;
  }

  /// The value must have that shape.
  Misfit shape(ir::ValueId value, const Shape& wanted) const {
    if (type(value)->shape == wanted) return {};
    return wrong(value, words_of(wanted) + " is wanted");
  }

  /// The value must have elements of that type.
  Misfit element(ir::ValueId value, ir::Type wanted) const {
    if (scalar_of(type(value)) == wanted) return {};
    return wrong(value, "elements of " + wanted->text + " are wanted");
  }

  Misfit alike(ir::ValueId value, ir::Type like) const {
    if (const auto wrong_shape = shape(value, like->shape)) return wrong_shape;
    return element(value, scalar_of(like));
  }

  /// One shape and layout: what element-wise ops keep.
  Misfit laid_out(ir::ValueId value, ir::Type like) const {
    if (const auto wrong_shape = shape(value, like->shape)) return wrong_shape;
    if (type(value)->encoding == like->encoding) return {};
    return wrong(value, "the layout of " + like->text + " is wanted");
  }

  // --- Types by themselves ----------------------------------------------------------------------

  Misfit results() const {
    for (const ir::ValueId value : op_.results) {
      if (const auto wrong_type = by_itself(value)) return wrong_type;
    }
    for (const ir::RegionId region : op_.regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        for (const ir::ValueId value : program_.block(block).arguments) {
          if (const auto wrong_type = by_itself(value)) return wrong_type;
        }
      }
    }
    return {};
  }

  Misfit by_itself(ir::ValueId value) const {
    const ir::Type it =
        type(value)->kind == ir::TypeKind::tensordesc ? type(value)->element : type(value);
    if (it == nullptr) return {};
    if (it->kind == ir::TypeKind::tensor) {
      if (!std::all_of(it->shape.begin(), it->shape.end(), is_power_of_two)) {
        return wrong(value, "extents of tensors are powers of two");
      }
    }
    const auto shared = nvmma_shared_encoding(it->encoding);
    const int bits = element_bits(it);
    if (shared && bits > 0 && shared->element_bits > 0 && bits != shared->element_bits) {
      return wrong(
          value, "its layout is for elements of " + std::to_string(shared->element_bits) + " bits");
    }
    return {};
  }

  // --- Element by element -----------------------------------------------------------------------

  Misfit misfit_of(const Cast& cast) const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    if (const auto wrong_layout = laid_out(op_.operands[0], result())) return wrong_layout;
    const ir::Type from = scalar_of(operand(0));
    const ir::Type to = scalar_of(result());
    const int change = (to->bits > from->bits ? 1 : 0) - (to->bits < from->bits ? 1 : 0);
    const bool fits =
        cast.from(from) && cast.to(to) && (cast.direction == 0 || change == cast.direction);
    if (fits) return {};
    return in_quotes() + " makes no " + to->text + " of " + from->text;
  }

  Misfit comparison() const {
    if (const auto wrong_count = counts(2)) return wrong_count;
    if (operand(0) != operand(1)) return wrong(op_.operands[1], operand(0)->text + " is wanted");
    const bool of_numbers = op_.kind == ir::OpKind::fcmp;
    const ir::Type scalar = scalar_of(operand(0));
    if (of_numbers ? !is_floating(scalar) : !is_whole(scalar)) {
      return in_quotes() + " compares no " + scalar->text;
    }
    if (scalar_of(result())->name != "i1") return wrong(op_.results[0], "i1 is wanted");
    return laid_out(op_.results[0], operand(0));
  }

  Misfit select() const {
    if (op_.operands.size() != 3 || op_.results.size() != 1) return {};
    const ir::ValueId condition = op_.operands[0];
    if (scalar_of(operand(0))->name != "i1") return wrong(condition, "i1 is wanted");
    return type(condition)->shape.empty() ? Misfit() : laid_out(condition, result());
  }

  Misfit bitcast() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    if (const auto wrong_shape = shape(op_.operands[0], result()->shape)) return wrong_shape;
    const int from = element_bits(operand(0));
    const int to = element_bits(result());
    if (from == to || from == 0 || to == 0) return {};
    return in_quotes() + " makes " + std::to_string(to) + " bits of " + std::to_string(from);
  }

  Misfit addptr() const {
    if (const auto wrong_count = counts(2)) return wrong_count;
    if (operand(0) != result()) return wrong(op_.operands[0], result()->text + " is wanted");
    if (scalar_of(result())->kind != ir::TypeKind::pointer) {
      return wrong(op_.operands[0], "a pointer is wanted");
    }
    if (!is_whole(scalar_of(operand(1)))) return wrong(op_.operands[1], "integers are wanted");
    return laid_out(op_.operands[1], result());
  }

  // --- Views ------------------------------------------------------------------------------------

  Misfit other() const {
    switch (op_.kind) {
      case ir::OpKind::icmp:
      case ir::OpKind::fcmp:
        return comparison();
      case ir::OpKind::select:
        return select();
      case ir::OpKind::bitcast:
        return bitcast();
      case ir::OpKind::pointer_add:
        return addptr();
      case ir::OpKind::splat:
        return splat();
      case ir::OpKind::range:
        return range();
      case ir::OpKind::expand_dims:
        return expand_dims();
      case ir::OpKind::broadcast:
        return broadcast();
      case ir::OpKind::transpose:
      case ir::OpKind::buffer_transpose:
        return transposition();
      case ir::OpKind::reshape:
      case ir::OpKind::buffer_reshape:
        return reshape();
      case ir::OpKind::relayout:
      case ir::OpKind::wgmma_wait:
        return renamed();
      case ir::OpKind::buffer_index:
        return indexed();
      case ir::OpKind::join:
        if (const auto wrong_count = counts(2)) return wrong_count;
        return joined(result(), op_.operands);
      case ir::OpKind::split:
        if (const auto wrong_count = counts(1, 2)) return wrong_count;
        return joined(operand(0), op_.results);
      case ir::OpKind::reduce:
      case ir::OpKind::scan:
        return reduced();
      case ir::OpKind::make_descriptor:
        return descriptor();
      default:
        return {};
    }
  }

  Misfit splat() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    if (operand(0) == scalar_of(result())) return {};
    return wrong(op_.operands[0], scalar_of(result())->text + " is wanted");
  }

  Misfit range() const {
    if (const auto wrong_count = counts(0)) return wrong_count;
    const auto start = integer_attribute(op_, "start");
    const auto end = integer_attribute(op_, "end");
    if (!start || !end) return in_quotes() + " needs 'start' and 'end'";
    if (!is_whole(scalar_of(result()))) return wrong(op_.results[0], "integers are wanted");
    if (*start < INT32_MIN || *end > INT32_MAX || *start > *end) {
      return in_quotes() + ": 'start' and 'end' are no range of 32 bits";
    }
    return shape(op_.results[0], {*end - *start});
  }

  Misfit expand_dims() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    const auto& axis = op_.axis;
    Shape wanted = operand(0)->shape;
    if (!axis || *axis < 0 || static_cast<std::size_t>(*axis) > wanted.size()) {
      return in_quotes() + " needs an 'axis' from 0 to " + std::to_string(wanted.size());
    }
    wanted.insert(wanted.begin() + *axis, 1);
    if (const auto wrong_shape = shape(op_.results[0], wanted)) return wrong_shape;
    return element(op_.results[0], scalar_of(operand(0)));
  }

  Misfit broadcast() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    const Shape& from = operand(0)->shape;
    const Shape& to = result()->shape;
    bool fits = from.size() == to.size();
    for (std::size_t d = 0; fits && d < to.size(); ++d) fits = from[d] == 1 || from[d] == to[d];
    if (!fits) return wrong(op_.operands[0], "only extents of 1 can become " + words_of(to));
    return element(op_.results[0], scalar_of(operand(0)));
  }

  Misfit transposition() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    const Shape& from = operand(0)->shape;
    auto order = op_.order;
    if (!order && from.size() == 2) order = {1, 0};  // older Tritons
    if (!order || order->size() != from.size()) {
      return in_quotes() + " needs an 'order' of " + count_of(from.size(), "dimension");
    }
    Shape sorted = *order;
    std::sort(sorted.begin(), sorted.end());
    Shape wanted;
    for (std::size_t d = 0; d < sorted.size(); ++d) {
      if (sorted[d] != static_cast<std::int64_t>(d)) {
        return in_quotes() + ": 'order' names a dimension twice, or one there is not";
      }
      wanted.push_back(from[static_cast<std::size_t>((*order)[d])]);
    }
    if (const auto wrong_shape = shape(op_.results[0], wanted)) return wrong_shape;
    return element(op_.results[0], scalar_of(operand(0)));
  }

  Misfit reshape() const {
    if (const auto wrong_count = counts(1)) return wrong_count;
    if (element_count(operand(0)) != element_count(result())) {
      return wrong(op_.results[0],
                   "as many elements as " + words_of(operand(0)->shape) + " has are wanted");
    }
    return element(op_.results[0], scalar_of(operand(0)));
  }

  /// Results are operands under another name.
  Misfit renamed() const {
    if (op_.results.size() > op_.operands.size()) return counts(op_.results.size());
    for (std::size_t i = 0; i < op_.results.size(); ++i) {
      if (const auto wrong_type = alike(op_.results[i], operand(i))) return wrong_type;
    }
    return {};
  }

  Misfit indexed() const {
    if (op_.operands.empty() || op_.results.size() != 1) return {};
    Shape wanted = operand(0)->shape;
    if (wanted.empty()) return wrong(op_.operands[0], "a buffer of several tiles is wanted");
    wanted.erase(wanted.begin());
    if (const auto wrong_shape = shape(op_.results[0], wanted)) return wrong_shape;
    return element(op_.results[0], scalar_of(operand(0)));
  }

  Misfit joined(ir::Type both, const std::vector<ir::ValueId>& parts) const {
    Shape wanted = both->shape;
    if (wanted.empty() || wanted.back() != 2) {
      return in_quotes() + ": the last extent of " + both->text + " is not 2";
    }
    wanted.pop_back();
    for (const ir::ValueId part : parts) {
      if (const auto wrong_shape = shape(part, wanted)) return wrong_shape;
      if (const auto wrong_element = element(part, scalar_of(both))) return wrong_element;
    }
    return {};
  }

  Misfit reduced() const {
    const auto found = reduction(program_, id_);
    if (!found || op_.operands.empty() || op_.results.size() != op_.operands.size()) {
      return in_quotes() + " needs an 'axis', and a result for each operand";
    }
    const auto& arguments = program_.block(found->combine).arguments;
    const std::size_t sources = op_.operands.size();
    Shape wanted = operand(0)->shape;
    const auto axis = static_cast<std::size_t>(found->axis);
    if (axis >= wanted.size())
      return wrong(op_.operands[0], "it has no axis " + std::to_string(axis));
    if (!found->is_scan) wanted.erase(wanted.begin() + found->axis);
    for (std::size_t i = 0; i < sources; ++i) {
      const ir::Type scalar = scalar_of(operand(i));
      if (const auto wrong_shape = shape(op_.operands[i], operand(0)->shape)) return wrong_shape;
      if (const auto wrong_shape = shape(op_.results[i], wanted)) return wrong_shape;
      if (const auto wrong_element = element(op_.results[i], scalar)) return wrong_element;
      for (std::size_t a = i; a < arguments.size(); a += sources) {
        if (is_known(type(arguments[a])) && type(arguments[a]) != scalar) {
          return wrong(arguments[a], scalar->text + " is wanted");
        }
      }
    }
    return {};
  }

  Misfit descriptor() const {
    const auto base = operand_in(op_, ir::Role::base);
    if (!base || op_.results.size() != 1 || result()->kind != ir::TypeKind::tensordesc) return {};
    const ir::Type block = result()->element;
    const bool fits =
        type(*base)->kind == ir::TypeKind::pointer && type(*base)->element == scalar_of(block);
    if (!fits) return wrong(*base, "a pointer to " + scalar_of(block)->text + " is wanted");
    const std::size_t rank = block->shape.size();
    if (operands_in(op_, ir::Role::extents).size() == rank &&
        operands_in(op_, ir::Role::strides).size() == rank) {
      return {};
    }
    return in_quotes() + " needs " + count_of(rank, "extent") + " and as many strides";
  }

  // --- Memory -----------------------------------------------------------------------------------

  Misfit misfit_of(const ir::MemoryAccess& access) const {
    if (op_.kind == ir::OpKind::block_gather || op_.kind == ir::OpKind::block_scatter ||
        op_.kind == ir::OpKind::block_gather_async || op_.kind == ir::OpKind::block_scatter_async) {
      return {};
    }
    const ir::Type at = type(access.address);
    const auto tiles = {access.result, access.source, access.destination};
    for (const std::optional<ir::ValueId>& tile : tiles) {
      if (!tile) continue;
      const auto wrong_tile = access.space != ir::AccessSpace::global ? alike(*tile, at)
                              : access.by_descriptor                  ? of_block(*tile, at)
                                                                      : of_pointers(*tile, at);
      if (wrong_tile) return wrong_tile;
    }
    return access.space == ir::AccessSpace::global && !access.by_descriptor ? masked(access, at)
                                                                            : Misfit();
  }

  /// Descriptors may have more dimensions of one element than the tiles that they move.
  Misfit of_block(ir::ValueId tile, ir::Type descriptor) const {
    const ir::Type block = descriptor->element;
    if (descriptor->kind != ir::TypeKind::tensordesc || block == nullptr) return {};
    if (scalar_of(type(tile)) == scalar_of(block) &&
        without_ones(type(tile)->shape) == without_ones(block->shape)) {
      return {};
    }
    return wrong(tile, "the descriptor's block is " + block->text);
  }

  Misfit of_pointers(ir::ValueId tile, ir::Type at) const {
    const ir::Type pointer = scalar_of(at);
    if (pointer->kind != ir::TypeKind::pointer || pointer->element == nullptr) {
      return in_quotes() + " takes pointers, but was given " + at->text;
    }
    if (pointer->element->kind == ir::TypeKind::tensor) return alike(tile, pointer->element);
    if (const auto wrong_shape = shape(tile, at->shape)) return wrong_shape;
    return element(tile, pointer->element);
  }

  Misfit masked(const ir::MemoryAccess& access, ir::Type at) const {
    if (at->kind == ir::TypeKind::pointer && at->element->kind == ir::TypeKind::tensor) return {};
    if (access.mask) {
      if (scalar_of(type(*access.mask))->name != "i1") return wrong(*access.mask, "i1 is wanted");
      if (const auto wrong_shape = shape(*access.mask, at->shape)) return wrong_shape;
    }
    return access.other ? of_pointers(*access.other, at) : Misfit();
  }

  const ir::Program& program_;
  ir::OpId id_;
  const ir::Op& op_;
};

}  // namespace

std::optional<std::string> misfit(const ir::Program& program, ir::OpId op) {
  return Fitting(program, op).misfit();
}

}  // namespace twill::frontend::ttgir
