#include "twill/ir/misfit.h"

#include <algorithm>

#include "twill/ir/encoding.h"
#include "twill/ir/op_types.h"

namespace twill::ir {
namespace {

/// Whether a number is a power of two; an unknown extent (negative) counts as one.
bool is_power_of_two(std::int64_t number) { return number < 0 || (number & (number - 1)) == 0; }

MaybeMisfit layout_misfit(const OpTypes& types, ValueId value, Type it) {
  if (const auto shared = nvmma_shared_encoding(it->encoding)) {
    const int swizzle = shared->swizzle_bytes;
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) {
      return types.wrong(value, "shared memory is swizzled by 0, 32, 64 or 128 bytes");
    }
    const int bits = element_bits(it);
    if (bits > 0 && shared->element_bits > 0 && bits != shared->element_bits) {
      return types.wrong(
          value, "its layout is for elements of " + std::to_string(shared->element_bits) + " bits");
    }
  }
  if (const auto swizzled = swizzled_shared_encoding(it->encoding)) {
    const int least = std::min({swizzled->vec, swizzled->per_phase, swizzled->max_phase});
    if (least < 1) return types.wrong(value, "a swizzle has vectors and phases of 1 and more");
  }
  if (const auto memory = tensor_memory_encoding(it->encoding)) {
    const bool fits = (memory->block_m == 64 || memory->block_m == 128) && memory->block_n > 0 &&
                      memory->block_n <= 512 && is_power_of_two(memory->block_n);
    if (!fits) return types.wrong(value, "blocks of tensor memory are 64 or 128 by 1 to 512");
  }
  return {};
}

/// Whether the module was made of tasks: such modules may have tiles of any extents.
bool has_any_extents(const Program& program) {
  const auto& attributes = program.op(program.module()).attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const NamedAttribute& it) { return it.first == "twill.any_extents"; });
}

MaybeMisfit by_itself(const OpTypes& types, ValueId value) {
  const Type stated = types.type(value);
  const Type it = stated->kind == TypeKind::tensordesc ? stated->element : stated;
  if (it == nullptr) return {};
  const bool holds = it->kind == TypeKind::tensor || it->kind == TypeKind::memdesc;
  const bool may_be_empty = types.op().kind == OpKind::constant;  // dense<> : tensor<0xi8>
  if (holds && !may_be_empty &&
      std::find(it->shape.begin(), it->shape.end(), 0) != it->shape.end()) {
    return types.wrong(value, "extents are 1 and more");
  }
  if (it->kind == TypeKind::tensor &&
      !std::all_of(it->shape.begin(), it->shape.end(), is_power_of_two) &&
      !has_any_extents(types.program())) {
    return types.wrong(value, "extents of tensors are powers of two");
  }
  return layout_misfit(types, value, it);
}

/// Finds a misfit in the type of one result or one block argument, without comparing types.
MaybeMisfit made_misfit(const OpTypes& types) {
  for (const ValueId value : types.op().results) {
    if (auto wrong = by_itself(types, value)) return wrong;
  }
  for (const RegionId region : types.op().regions) {
    for (const BlockId block : types.program().region(region).blocks) {
      for (const ValueId value : types.program().block(block).arguments) {
        if (auto wrong = by_itself(types, value)) return wrong;
      }
    }
  }
  return {};
}

/// Least number of operands that an access or a product needs; 0 for other ops.
std::size_t least_operands(const Op& op) {
  const OpClass of = class_of(op.kind);
  if (of == OpClass::product) return 3;
  if (!op.access || op.access->allocates) return 0;
  return of == OpClass::load ? 1 : 2;
}

/// Finds an access or a product that lacks operands or results. Forms of other Tritons may have
/// more operands than Twill knows.
MaybeMisfit incomplete_misfit(const OpTypes& types) {
  const Op& op = types.op();
  const OpClass of = class_of(op.kind);
  if (op.operands.size() < least_operands(op)) return types.bad(" lacks an operand");
  if (of == OpClass::load && op.results.empty()) return types.bad(" has no result");
  const bool silent = of == OpClass::store && op.kind != OpKind::tensor_store;
  if (silent && !op.results.empty()) return types.bad(" has a result, and stores have none");
  return {};
}

/// Whether ops of that kind must be the last op of their block.
bool ends_block(OpKind kind) {
  return kind == OpKind::yield || kind == OpKind::condition || kind == OpKind::ret ||
         kind == OpKind::jump || kind == OpKind::jump_if || kind == OpKind::combined ||
         kind == OpKind::roles_end || kind == OpKind::partition_end;
}

/// Finds an op in the wrong place of its block, or with operands or results that its kind does not
/// have.
MaybeMisfit form_misfit(const OpTypes& types) {
  const Op& op = types.op();
  const OpClass of = class_of(op.kind);
  const bool token = op.kind == OpKind::copy_commit || op.kind == OpKind::copy_wait;
  const bool ends = ends_block(op.kind);
  if ((ends || (of == OpClass::synchronization && !token)) && !op.results.empty()) {
    return types.bad(" has no results");
  }
  if (ends && types.program().block(op.block).ops.back() != types.id()) {
    return types.bad(" ends a block, and more follows");
  }
  const bool computes = of == OpClass::elementwise ||
                        (of == OpClass::view && op.kind != OpKind::wgmma_wait) ||
                        of == OpClass::rearrangement || of == OpClass::reduction;
  if (computes && (op.operands.empty() || op.results.empty())) {
    return types.bad(" has operands and results");
  }
  if (of == OpClass::value && !op.operands.empty()) return types.bad(" has no operands");
  if (op.kind != OpKind::histogram && op.kind != OpKind::gather) return {};
  for (const auto& values : {op.operands, op.results}) {
    for (const ValueId value : values) {
      const bool in_memory = types.type(value)->kind == TypeKind::memdesc;
      if (in_memory) return types.wrong(value, "a tile in registers is wanted");
    }
  }
  return {};
}

bool all_known(const OpTypes& types) {
  const auto known = [&](ValueId value) { return is_known(types.type(value)); };
  const Op& op = types.op();
  return std::all_of(op.operands.begin(), op.operands.end(), known) &&
         std::all_of(op.results.begin(), op.results.end(), known);
}

}  // namespace

std::optional<Misfit> misfit(const Program& program, OpId id) {
  const OpTypes types(program, id);
  if (auto wrong = made_misfit(types)) return wrong;
  if (auto wrong = count_misfit(types)) return wrong;
  if (auto wrong = incomplete_misfit(types)) return wrong;
  if (auto wrong = form_misfit(types)) return wrong;
  const Op& op = program.op(id);
  const OpClass of = class_of(op.kind);
  if (of == OpClass::structure) return control_misfit(types);
  if (!all_known(types)) return {};
  if (of == OpClass::elementwise) return elementwise_misfit(types);
  if (mma_operands(op)) return product_misfit(types);
  if (const auto access = memory_access(op)) return access_misfit(types, *access);
  if (op.kind == OpKind::make_descriptor) return descriptor_misfit(types);
  return view_misfit(types);
}

OpId maker(const Program& program, ValueId value) {
  const Value& it = program.value(value);
  return it.op ? *it.op : program.region(program.block(*it.block).region).op;
}

}  // namespace twill::ir
