#include <algorithm>

#include "twill/device/role.h"
#include "twill/dialect/register_layouts.h"
#include "twill/dialect/tensor_map.h"
#include "twill/ir/encoding.h"

/// Descriptors that the kernel makes, in front of its roles.
namespace twill::device {

namespace {

constexpr std::int64_t kMapBytes = 128;

/// CUtensorMapSwizzle
std::int64_t swizzle_mode(int bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

}  // namespace

/// Makes a map for TMA in global memory, with the same contents as a map by the host.
Result<void> RoleBuilder::make_descriptor(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const ir::Type descriptor = ir::type_of(program_, op.results.front());
  const ir::Type block = descriptor->element;
  const auto layout = block ? ir::nvmma_shared_encoding(block->encoding) : std::nullopt;
  const std::size_t rank = block ? block->shape.size() : 0;
  if (!layout || layout->transposed || layout->fp4_padded || !dialect::map_type(block->element) ||
      op.operands.size() != 1 + 2 * rank) {
    return sketch_.refuse(id, "makes a descriptor of a kind that is not printed as TTGIR yet");
  }
  const std::int64_t element_bytes = ir::element_bits(block) / 8;
  const ir::Type i64 = sketch_.types().scalar("i64");
  std::vector<ValueId> box, extents, strides, steps;
  for (std::size_t i = rank; i-- > 0;) {  // innermost first
    std::int64_t extent = block->shape[i];
    if (i + 1 == rank && layout->swizzle_bytes > 0) {
      extent = std::min(extent, layout->swizzle_bytes / element_bytes);
    }
    box.push_back(number(extent));
    steps.push_back(number(1));
    TWILL_TRY(extents.emplace_back(), want_scalar(op.operands[1 + i]));
    if (i + 1 == rank) continue;
    TWILL_TRY(const ValueId stride, want_scalar(op.operands[1 + rank + i]));
    strides.push_back(integer(NodeKind::multiply, stride, constant(element_bytes, i64), "stride"));
  }
  TWILL_TRY(const ValueId base, want_scalar(op.operands.front()));
  const ValueId map =
      make(NodeKind::scratch, {}, "map", dialect::byte_pointer(sketch_.types()), {kMapBytes});
  std::vector<ValueId> operands = {map, base};
  for (const auto* list : {&box, &extents, &strides, &steps}) {
    operands.insert(operands.end(), list->begin(), list->end());
  }
  emit(NodeKind::create_map, std::move(operands), {},
       {static_cast<std::int64_t>(rank), *dialect::map_type(block->element),
        op.pads_with_nan ? 1 : 0, swizzle_mode(layout->swizzle_bytes)});
  emit(NodeKind::acquire_map, {map});
  const ValueId made =
      make(NodeKind::as_descriptor, {map}, program_.value(op.results.front()).name, descriptor);
  enter(op.results.front(), {}, {}, made);
  return {};
}

}  // namespace twill::device
