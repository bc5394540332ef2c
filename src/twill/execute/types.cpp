#include "twill/execute/types.h"

#include <algorithm>
#include <string_view>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;
using ir::TypeKind;

bool is_tile(ir::Type type) {
  return type->kind == TypeKind::tensor || type->kind == TypeKind::memdesc;
}

bool is_whole(ir::Type type) {
  return type->kind == TypeKind::integer || type->kind == TypeKind::index;
}

/// Of one shape and of one element, wherever they lie and however they are laid out.
bool alike(ir::Type a, ir::Type b) {
  return a == b || (a->shape == b->shape && scalar_of(a) == scalar_of(b));
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::int64_t extent) { return extent != 1; });
  return kept;
}

/// One op. Every check is true where the types fit.
class OpTypes {
 public:
  OpTypes(const ir::Program& program, ir::OpId id) : program_(program), id_(id) {}

  bool fit() const {
    for (const ir::ValueId result : op().results) {
      const Shape& shape = type(result)->shape;
      if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 1; }))
        return false;
    }
    if (is_elementwise(op().kind)) return elementwise();
    if (ir::mma_operands(op())) return product();
    if (const auto access = ir::memory_access(op())) return is_spread() || accesses(*access);
    return op().kind == OpKind::branch ? branches() : other();
  }

 private:
  const ir::Op& op() const { return program_.op(id_); }
  ir::Type type(ir::ValueId value) const { return ir::type_of(program_, value); }
  ir::Type operand(std::size_t i) const { return type(op().operands[i]); }
  ir::Type result(std::size_t i = 0) const { return type(op().results[i]); }
  bool has(std::size_t operands, std::size_t results = 1) const {
    return op().operands.size() == operands && op().results.size() == results;
  }

  /// Tiles of the result's shape; what is no tile is the same for all elements.
  bool elementwise() const {
    if (op().results.size() != 1) return false;
    return std::all_of(op().operands.begin(), op().operands.end(), [&](ir::ValueId value) {
      return !is_tile(type(value)) || type(value)->shape == result()->shape;
    });
  }

  bool other() const {
    switch (op().kind) {
      case OpKind::expand_dims:
      case OpKind::reshape:
      case OpKind::buffer_reshape:
        return has(1) && scalar_of(operand(0)) == scalar_of(result()) &&
               size_of(operand(0)->shape) == size_of(result()->shape);
      case OpKind::broadcast:
        return has(1) && broadcast(operand(0), result());
      case OpKind::transpose:
      case OpKind::buffer_transpose:
        return has(1) && transposed(operand(0), result());
      case OpKind::buffer_index:
      case OpKind::buffer_slice:
      case OpKind::tensor_slice:
        return op().results.size() == 1 && !op().operands.empty() &&
               scalar_of(operand(0)) == scalar_of(result());
      case OpKind::splat:
        return has(1) && !is_tile(operand(0)) && operand(0) == scalar_of(result());
      case OpKind::unsplat:
        return has(1) && !is_tile(result()) && scalar_of(operand(0)) == result() &&
               size_of(operand(0)->shape) == 1;
      case OpKind::range:
      case OpKind::program_id:
      case OpKind::program_count:
        return has(0) && is_whole(scalar_of(result()));
      case OpKind::relayout:
      case OpKind::wgmma_wait:
        return kept();
      case OpKind::reduce:
      case OpKind::scan:
        return reduction();
      case OpKind::join:
        return has(2) && joined(operand(0), result()) && joined(operand(1), result());
      case OpKind::split:
        return has(1, 2) && joined(result(0), operand(0)) && joined(result(1), operand(0));
      case OpKind::make_descriptor:
        return descriptor();
      default:
        return loop();
    }
  }

  static bool broadcast(ir::Type from, ir::Type to) {
    bool fits = from->shape.size() == to->shape.size() && scalar_of(from) == scalar_of(to);
    for (std::size_t d = 0; fits && d < to->shape.size(); ++d) {
      fits = from->shape[d] == 1 || from->shape[d] == to->shape[d];
    }
    return fits;
  }

  bool transposed(ir::Type from, ir::Type to) const {
    const auto& order = op().order;
    const std::size_t rank = to->shape.size();
    if (!order || order->size() != rank || from->shape.size() != rank) return false;
    std::vector<bool> met(rank, false);
    for (std::size_t d = 0; d < rank; ++d) {
      const auto source = static_cast<std::size_t>((*order)[d]);
      if (source >= rank || met[source] || from->shape[source] != to->shape[d]) return false;
      met[source] = true;
    }
    return scalar_of(from) == scalar_of(to);
  }

  /// Results are operands under another name.
  bool kept() const {
    if (op().results.size() > op().operands.size()) return false;
    for (std::size_t r = 0; r < op().results.size(); ++r) {
      if (!alike(operand(r), result(r))) return false;
    }
    return true;
  }

  static bool joined(ir::Type part, ir::Type both) {
    Shape shape = part->shape;
    shape.push_back(2);
    return shape == both->shape && scalar_of(part) == scalar_of(both);
  }

  bool reduction() const {
    const auto found = ir::reduction(program_, id_);
    if (!found || op().operands.empty()) return false;
    const std::size_t sources = op().operands.size();
    const auto& arguments = program_.block(found->combine).arguments;
    const auto axis = static_cast<std::size_t>(found->axis);
    const auto end = ir::terminator(program_, found->combine);
    if (op().results.size() != sources || arguments.size() != 2 * sources || !end) return false;
    const auto& returned = program_.op(*end).operands;
    if (returned.size() != sources || axis >= operand(0)->shape.size()) return false;
    Shape left = operand(0)->shape;
    if (!found->is_scan) left.erase(left.begin() + found->axis);
    for (std::size_t s = 0; s < sources; ++s) {
      const ir::Type element = scalar_of(operand(s));
      const bool fits = operand(s)->shape == operand(0)->shape && result(s)->shape == left &&
                        scalar_of(result(s)) == element && type(arguments[s]) == element &&
                        type(arguments[sources + s]) == element && type(returned[s]) == element;
      if (!fits) return false;
    }
    return true;
  }

  /// [.., m, k] and [.., k, n] make [.., m, n], all of numbers.
  bool product() const {
    const auto found = *ir::mma_operands(op());
    if (found.a_scale) return true;  // not known
    const ir::Type a = type(found.a), b = type(found.b), sums = type(found.accumulator);
    const std::size_t rank = sums->shape.size();
    const auto is_number = [](ir::Type it) { return scalar_of(it)->kind == TypeKind::floating; };
    bool fits = rank >= 2 && a->shape.size() == rank && b->shape.size() == rank && is_number(a) &&
                is_number(b) && is_number(sums);
    for (std::size_t d = 0; fits && d + 2 < rank; ++d) {
      fits = a->shape[d] == sums->shape[d] && b->shape[d] == sums->shape[d];
    }
    if (!fits) return false;
    const auto flag = found.use_accumulator;
    return a->shape[rank - 2] == sums->shape[rank - 2] && a->shape.back() == b->shape[rank - 2] &&
           b->shape.back() == sums->shape.back() &&
           (!flag || (!is_tile(type(*flag)) && is_whole(type(*flag)))) &&
           (!found.result || alike(type(*found.result), sums));
  }

  /// By rows that are told one by one: not known.
  bool is_spread() const {
    return op().kind == OpKind::block_gather || op().kind == OpKind::block_scatter;
  }

  bool accesses(const ir::MemoryAccess& access) const {
    const ir::Type at = type(access.address);
    const auto tiles = {access.result, access.source, access.destination, access.other};
    if (access.space != ir::AccessSpace::global) {
      return std::all_of(tiles.begin(), tiles.end(),
                         [&](const auto& tile) { return !tile || alike(type(*tile), at); });
    }
    const ir::Type pointers = scalar_of(at);
    if (pointers->element == nullptr) return false;
    const auto fits = [&](const std::optional<ir::ValueId>& tile) {
      if (!tile) return true;
      return access.by_descriptor
                 ? of_block(type(*tile), at->element)
                 : type(*tile)->shape == at->shape && scalar_of(type(*tile)) == pointers->element;
    };
    const auto mask = access.mask ? type(*access.mask) : nullptr;
    const bool masked = mask == nullptr ||
                        (is_whole(scalar_of(mask)) && (!is_tile(mask) || mask->shape == at->shape));
    const auto scalar_other = access.other && !is_tile(type(*access.other));
    return masked && fits(access.result) && fits(access.source) && fits(access.destination) &&
           (scalar_other ? type(*access.other) == pointers->element : fits(access.other));
  }

  /// Descriptors may have more dimensions of one element than the tiles they move.
  static bool of_block(ir::Type tile, ir::Type block) {
    return scalar_of(tile) == scalar_of(block) &&
           without_ones(tile->shape) == without_ones(block->shape);
  }

  bool descriptor() const {
    const auto base = ir::operand_in(op(), ir::Role::base);
    if (!base || op().results.size() != 1 || result()->kind != TypeKind::tensordesc) return false;
    const std::size_t rank = result()->element->shape.size();
    return type(*base)->kind == TypeKind::pointer &&
           type(*base)->element == scalar_of(result()->element) &&
           ir::operands_in(op(), ir::Role::extents).size() == rank &&
           ir::operands_in(op(), ir::Role::strides).size() == rank;
  }

  /// What an iteration hands to the next, and the last one on.
  bool loop() const {
    const auto found = ir::as_loop(program_, id_);
    if (!found) return true;
    const bool carried =
        std::all_of(found->carried.begin(), found->carried.end(), [&](const ir::Carried& it) {
          return alike(type(it.init), type(it.argument)) &&
                 alike(type(it.yielded), type(it.argument)) &&
                 (!it.result || alike(type(*it.result), type(it.argument)));
        });
    return carried && std::all_of(found->forwarded.begin(), found->forwarded.end(),
                                  [&](const ir::Forwarded& it) {
                                    return alike(type(it.passed), type(it.argument)) &&
                                           alike(type(it.passed), type(it.result));
                                  });
  }

  bool branches() const {
    for (std::size_t region = 0; region < op().regions.size(); ++region) {
      const auto block = ir::body(program_, id_, region);
      const auto end = block ? ir::terminator(program_, *block) : std::nullopt;
      if (!end) continue;
      const auto& yielded = program_.op(*end).operands;
      for (std::size_t r = 0; r < op().results.size() && r < yielded.size(); ++r) {
        if (!alike(type(yielded[r]), result(r))) return false;
      }
    }
    return true;
  }

  const ir::Program& program_;
  ir::OpId id_;
};

}  // namespace

Result<void> check_types(const ir::Program& program, ir::OpId function) {
  for (const ir::OpId id : ir::walk(program, function)) {
    if (OpTypes(program, id).fit()) continue;
    const bool product = ir::mma_operands(program.op(id)).has_value();
    return cannot(program, id,
                  product ? "is no product of tiles of numbers that fit"
                          : "has operands or results that do not fit");
  }
  return {};
}

}  // namespace twill::execute
