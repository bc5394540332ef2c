#include "twill/frontend/ttgir/product_misfit.h"

#include <algorithm>

#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"

namespace twill::frontend::ttgir {
namespace {

using Misfit = std::optional<std::string>;

ir::Type element_of(ir::Type type) { return type->element != nullptr ? type->element : type; }

bool is_integer(ir::Type type) { return type->kind == ir::TypeKind::integer; }

/// [.., m, k] and [.., k, n] make [.., m, n].
Misfit extents(ir::Type a, ir::Type b, ir::Type d) {
  const std::size_t rank = d->shape.size();
  if (rank < 2 || a->shape.size() < 2 || b->shape.size() < 2) return "a product is of tiles";
  bool fits = a->shape.size() == rank && b->shape.size() == rank;
  for (std::size_t i = 0; fits && i + 2 < rank; ++i) {
    fits = a->shape[i] == d->shape[i] && b->shape[i] == d->shape[i];
  }
  fits = fits && a->shape[rank - 1] == b->shape[rank - 2] &&
         a->shape[rank - 2] == d->shape[rank - 2] && b->shape[rank - 1] == d->shape[rank - 1];
  if (fits) return {};
  return "the tiles of this product do not fit: " + a->text + " times " + b->text + " into " +
         d->text;
}

/// Elements of one type, except that of 8 bits there are several that mix.
Misfit elements(ir::Type a, ir::Type b, ir::Type d) {
  const ir::Type x = element_of(a);
  const ir::Type y = element_of(b);
  const ir::Type sum = element_of(d);
  const bool mix = x->kind == y->kind && x->bits == 8 && y->bits == 8;
  if (x != y && !mix) {
    return "the operands of this product have elements of " + x->text + " and of " + y->text;
  }
  const bool adds = (x->kind == ir::TypeKind::floating && sum->kind == ir::TypeKind::floating) ||
                    (is_integer(x) && is_integer(sum));
  if (adds && sum->bits >= std::min(x->bits, 16)) return {};
  return "a product of elements of " + x->text + " does not add to " + sum->text;
}

/// The instruction that wgmma's layout names must go into the depth of the tile.
Misfit instruction(ir::Type a, ir::Type d) {
  const auto mma = mma_encoding(d->encoding);
  if (!mma || mma->version_major != 3 || mma->instr_shape.size() != 3) return {};
  constexpr std::int64_t kBits = 256;  // of one row of an operand in one instruction
  const std::int64_t depth = mma->instr_shape[2];
  const int bits = element_bits(a);
  if (bits <= 0 || depth != kBits / bits) {
    return "the layout's instruction is " + std::to_string(depth) + " deep, that of " +
           element_of(a)->text + " " + std::to_string(kBits / std::max(bits, 1));
  }
  if (a->shape.back() % depth == 0) return {};
  return "the depth of " + a->text + " is no multiple of the instruction's " +
         std::to_string(depth);
}

}  // namespace

Misfit product_misfit(const ir::Program& program, const ir::Op& op) {
  const ir::MmaOperands mma = *mma_operands(op);
  const bool scaled = op.kind == ir::OpKind::mma_scaled || op.kind == ir::OpKind::tcgen05_scaled;
  if (scaled || mma.two_ctas) return {};  // packed and paired forms
  const ir::Type a = type_of(program, mma.a);
  const ir::Type b = type_of(program, mma.b);
  const ir::Type d = type_of(program, mma.accumulator);
  if (auto wrong = extents(a, b, d)) return wrong;
  if (auto wrong = elements(a, b, d)) return wrong;
  return instruction(a, d);
}

}  // namespace twill::frontend::ttgir
