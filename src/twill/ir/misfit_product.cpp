#include <algorithm>

#include "twill/ir/encoding.h"
#include "twill/ir/op_types.h"

/// Types of products of tiles.
namespace twill::ir {
namespace {

using Words = std::optional<std::string>;

/// Checks the extents of a product: [.., m, k] times [.., k, n] gives [.., m, n].
Words extents(Type a, Type b, Type d) {
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

/// Checks that both operands have one element type; types of 8 bits may mix.
Words elements(Type a, Type b, Type d) {
  const Type x = scalar_of(a), y = scalar_of(b), sum = scalar_of(d);
  const bool mix = x->kind == y->kind && x->bits == 8 && y->bits == 8;
  if (x != y && !mix) {
    return "the operands of this product have elements of " + x->text + " and of " + y->text;
  }
  const bool adds = (is_floating(x) && is_floating(sum)) ||
                    (x->kind == TypeKind::integer && sum->kind == TypeKind::integer);
  if (adds && sum->bits >= std::min(x->bits, 16)) return {};
  return "a product of elements of " + x->text + " does not add to " + sum->text;
}

/// Checks that the depth of the instruction in wgmma's layout divides the depth of the tile.
Words instruction(Type a, Type d) {
  const auto mma = mma_encoding(d->encoding);
  if (!mma || mma->version_major != 3 || mma->instr_shape.size() != 3) return {};
  constexpr std::int64_t kBits = 256;  // of one row of an operand in one instruction
  const std::int64_t depth = mma->instr_shape[2];
  const int bits = element_bits(a);
  if (bits <= 0 || depth != kBits / bits) {
    return "the layout's instruction is " + std::to_string(depth) + " deep, that of " +
           scalar_of(a)->text + " " + std::to_string(kBits / std::max(bits, 1));
  }
  if (a->shape.back() % depth == 0) return {};
  return "the depth of " + a->text + " is no multiple of the instruction's " +
         std::to_string(depth);
}

/// Checks the precision of f32 products, by Triton's numbers.
Words precision(const Op& op) {
  constexpr std::int64_t kWays = 5;
  for (const auto& [key, value] : op.attributes) {
    const bool is_number = value != nullptr && value->kind == AttributeKind::integer;
    if (key != "inputPrecision" || !is_number) continue;
    if (value->integer >= 0 && value->integer < kWays) return {};
    return "'inputPrecision' is " + std::to_string(value->integer) + ", which is none of 0 to 4";
  }
  return {};
}

/// Checks that a product of warp groups has the layout of a wgmma instruction.
Words version(const Op& op, Type d) {
  const auto mma = mma_encoding(d->encoding);
  if (op.kind != OpKind::wgmma || !mma || mma->version_major == 3) return {};
  return "a product of warp groups has a layout of version 3, and " + d->text + " one of version " +
         std::to_string(mma->version_major);
}

}  // namespace

MaybeMisfit product_misfit(const OpTypes& types) {
  const Op& op = types.op();
  const MmaOperands mma = *mma_operands(op);
  if (mma.result) {
    if (auto wrong = types.same(mma.accumulator, types.type(*mma.result))) return wrong;
  }
  for (const auto& flag : {mma.use_accumulator, mma.predicate}) {
    if (flag && types.type(*flag)->name != "i1") return types.wrong(*flag, "i1 is wanted");
  }
  const bool scaled = op.kind == OpKind::mma_scaled || op.kind == OpKind::tcgen05_scaled;
  if (scaled || mma.two_ctas) return {};  // operands are packed, or belong to a CTA pair
  const Type a = types.type(mma.a), b = types.type(mma.b), d = types.type(mma.accumulator);
  if (auto wrong = extents(a, b, d)) return Misfit{*wrong, {}};
  if (auto wrong = elements(a, b, d)) return Misfit{*wrong, {}};
  if (auto wrong = instruction(a, d)) return Misfit{*wrong, {}};
  if (auto wrong = version(op, d)) return Misfit{*wrong, {}};
  if (auto wrong = precision(op)) return Misfit{*wrong, {}};
  return {};
}

}  // namespace twill::ir
