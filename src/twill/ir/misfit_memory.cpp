#include "twill/ir/op_types.h"

/// Types of accesses to memory, and of descriptors.
namespace twill::ir {
namespace {

/// Checks a tile against its descriptor's block, which may have further dimensions of extent 1.
MaybeMisfit of_block(const OpTypes& types, ValueId tile, Type descriptor) {
  const Type block = descriptor->element;
  if (descriptor->kind != TypeKind::tensordesc || block == nullptr) return {};
  const Type it = types.type(tile);
  if (same_element(scalar_of(it), scalar_of(block)) &&
      without_ones(it->shape) == without_ones(block->shape)) {
    return {};
  }
  return types.wrong(tile, "the descriptor's block is " + block->text);
}

MaybeMisfit of_pointers(const OpTypes& types, ValueId tile, Type at) {
  const Type pointer = scalar_of(at);
  if (pointer->kind != TypeKind::pointer || pointer->element == nullptr) {
    return types.bad(" takes pointers, but was given " + at->text);
  }
  if (pointer->element->kind == TypeKind::tensor) return types.alike(tile, pointer->element);
  if (auto wrong = types.shape(tile, at->shape)) return wrong;
  if (auto wrong = types.element(tile, pointer->element)) return wrong;
  const bool in_registers = types.type(tile)->kind == TypeKind::tensor;
  return in_registers ? types.laid_out(tile, at) : MaybeMisfit();
}

MaybeMisfit masked(const OpTypes& types, const MemoryAccess& access, Type at) {
  if (at->kind == TypeKind::pointer && at->element->kind == TypeKind::tensor) return {};
  if (access.mask) {
    const Type mask = types.type(*access.mask);
    if (scalar_of(mask)->name != "i1") return types.wrong(*access.mask, "i1 is wanted");
    if (!mask->shape.empty()) {
      if (auto wrong = types.laid_out(*access.mask, at)) return wrong;
    }
  }
  if (!access.other) return {};
  const Type other = types.type(*access.other);
  if (other->shape.empty()) return types.element(*access.other, scalar_of(at)->element);
  return of_pointers(types, *access.other, at);
}

/// Checks that the values are single integers: coordinates and extents of 32 bits, strides of 64.
MaybeMisfit single_integers(const OpTypes& types, std::span<const ValueId> values, int bits) {
  for (const ValueId value : values) {
    const Type it = types.type(value);
    const bool fits = it->kind == TypeKind::integer && it->bits == bits;
    if (!fits) return types.wrong(value, "a single integer is wanted, i" + std::to_string(bits));
  }
  return {};
}

}  // namespace

MaybeMisfit access_misfit(const OpTypes& types, const MemoryAccess& access) {
  if (is_spread(types.op().kind)) return {};  // gather or scatter: its rows are given one by one
  const Type at = types.type(access.address);
  const bool global = access.space == AccessSpace::global;
  if (!global && at->kind == TypeKind::tensor) {
    return types.wrong(access.address, "a tile in memory is wanted");
  }
  for (const std::optional<ValueId>& tile : {access.result, access.source, access.destination}) {
    if (!tile) continue;
    if (!global && *tile != access.address && types.type(*tile)->kind == TypeKind::memdesc) {
      return types.wrong(*tile, "a tile in registers is wanted");
    }
    if (auto wrong = !global                ? types.alike(*tile, at)
                     : access.by_descriptor ? of_block(types, *tile, at)
                                            : of_pointers(types, *tile, at)) {
      return wrong;
    }
  }
  if (global && access.by_descriptor) return single_integers(types, access.coordinates, 32);
  if (!global) return {};
  return masked(types, access, at);
}

MaybeMisfit descriptor_misfit(const OpTypes& types) {
  const Op& op = types.op();
  const auto base = operand_in(op, Role::base);
  if (!base || op.results.size() != 1) return types.bad(" needs a pointer and has one result");
  if (types.result()->kind != TypeKind::tensordesc) return {};
  const Type block = types.result()->element;
  const Type pointer = types.type(*base);
  const bool fits = pointer->kind == TypeKind::pointer && pointer->element != nullptr &&
                    same_element(pointer->element, scalar_of(block));
  if (!fits) {
    return types.wrong(*base, "a pointer to " + scalar_of(block)->text + " is wanted");
  }
  for (const Role role : {Role::extents, Role::strides}) {
    const int bits = role == Role::extents ? 32 : 64;
    if (auto wrong = single_integers(types, operands_in(op, role), bits)) return wrong;
  }
  const std::size_t rank = block->shape.size();
  if (operands_in(op, Role::extents).size() == rank &&
      operands_in(op, Role::strides).size() == rank) {
    return {};
  }
  return types.bad(" needs " + count_of(rank, "extent") + " and as many strides");
}

}  // namespace twill::ir
