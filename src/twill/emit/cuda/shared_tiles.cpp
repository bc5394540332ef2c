#include "twill/emit/cuda/shared_tiles.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {

using ir::OpKind;

std::int64_t panel_bytes(const SharedTile& tile) { return tile.rows * tile.swizzle; }

std::int64_t panel_elements(const SharedTile& tile) { return tile.swizzle / 2; }

namespace {

/// The layout of blocks of TMA with a swizzle.
std::optional<ir::NvmmaSharedEncoding> swizzled_encoding(ir::Type descriptor) {
  const auto encoding = ir::nvmma_shared_encoding(descriptor->element->encoding);
  if (!encoding || encoding->transposed || encoding->swizzle_bytes < 32) return std::nullopt;
  return encoding;
}

}  // namespace

std::optional<std::int64_t> swizzle_of(ir::Type descriptor) {
  const auto encoding = swizzled_encoding(descriptor);
  if (!encoding || encoding->element_bits != 16) return std::nullopt;
  return encoding->swizzle_bytes;
}

std::optional<std::int64_t> written_swizzle_of(ir::Type descriptor) {
  const auto encoding = swizzled_encoding(descriptor);
  const bool floats =
      encoding && encoding->element_bits == 32 && cpp_type(descriptor->element->element) == "float";
  return floats ? std::optional<std::int64_t>(encoding->swizzle_bytes) : swizzle_of(descriptor);
}

namespace {

std::string why_no_operand(int bits) {
  return fmt::format("has elements of {} bits: only 16-bit operands are printed as CUDA yet", bits);
}

}  // namespace

std::string why_no_swizzle(ir::Type descriptor) {
  const ir::Type block = descriptor->element;
  const auto encoding = ir::nvmma_shared_encoding(block->encoding);
  if (encoding && encoding->element_bits != 16) return why_no_operand(encoding->element_bits);
  return "has blocks that are not swizzled as TMA does it for products";
}

namespace {

/// The load that fills a tile, whether the tile is read transposed, and the allocation that the
/// load fills, if one is named.
struct Behind {
  ir::ValueId value;
  bool transposed = false;
  std::optional<ir::ValueId> allocation;
};

/// Whether an op leaves the tile in place.
bool passes(OpKind kind) {
  return kind == OpKind::shared_alloc || kind == OpKind::relayout || kind == OpKind::reshape ||
         kind == OpKind::buffer_reshape;
}

Behind behind(const View& view, ir::ValueId value) {
  Behind found{value, false, std::nullopt};
  for (const ir::Op* op = ir::defining_op(view.program(), found.value); op != nullptr;
       op = ir::defining_op(view.program(), found.value)) {
    if (op->kind == OpKind::buffer_transpose) {
      found.transposed = !found.transposed;
    } else if (!passes(op->kind) || op->operands.empty()) {
      break;
    }
    if (op->kind == OpKind::shared_alloc) found.allocation = found.value;
    found.value = op->operands[0];
  }
  return found;
}

std::optional<OpId> filling_op(const View& view, ir::OpId load) {
  for (std::size_t v = 0; v < view.plan().values.size(); ++v) {
    const auto home = view.plan().values[v].home;
    if (!home || view.plan()[*home].residence != plan::Residence::shared) continue;
    const auto& sources = view.origin(OpId(v)).sources;
    if (std::any_of(sources.begin(), sources.end(),
                    [&](const extract::Source& source) { return source.op == load; })) {
      return OpId(v);
    }
  }
  return std::nullopt;
}

/// A tile that threads copy into an allocation, in the layout of the text.
Result<SharedTile> copied_tile(const View& view, const Behind& found, ir::OpId load) {
  const ir::Type type = ir::type_of(view.program(), *found.allocation);
  const auto encoding = ir::nvmma_shared_encoding(type->encoding);
  if (!encoding || encoding->element_bits != 16 || encoding->swizzle_bytes < 32 ||
      type->shape.size() != 2) {
    return view.refuse(load, "fills shared memory that is no swizzled matrix of 16-bit elements");
  }
  SharedTile tile;
  const plan::PerTileOp* per_tile_op = view.per_tile_op_of(load);
  if (const auto op = filling_op(view, load)) {
    tile.op = *op;
    tile.buffer = *view.plan().values[op->index()].home;
  } else if (per_tile_op != nullptr && per_tile_op->mechanism == plan::Mechanism::cp_async) {
    tile.buffer = per_tile_op->buffers.at(0);
  } else {
    return view.refuse(load, "fills shared memory outside the loop, without a step of the plan");
  }
  tile.rows = type->shape[encoding->transposed ? 1 : 0];
  tile.columns = type->shape[encoding->transposed ? 0 : 1];
  tile.swizzle = encoding->swizzle_bytes;
  tile.transposed = found.transposed != encoding->transposed;
  tile.type = cpp_type(type->element);
  return tile;
}

}  // namespace

Result<void> check_operands(const View& view) {
  for (const ir::OpId id : ir::walk(view.program(), view.program().module())) {
    const auto operands = ir::mma_operands(view.program().op(id));
    if (!operands) continue;
    for (const ir::ValueId operand : {operands->a, operands->b}) {
      const int bits = ir::element_bits(ir::type_of(view.program(), operand));
      if (bits != 16) return view.refuse(behind(view, operand).value, why_no_operand(bits));
    }
  }
  return {};
}

Result<SharedTile> shared_tile(const View& view, ir::ValueId value) {
  const Behind found = behind(view, value);
  const auto load = view.program().value(found.value).op;
  if (load && found.allocation && view.program().op(*load).kind == OpKind::load) {
    return copied_tile(view, found, *load);
  }
  if (!load || view.program().op(*load).kind != OpKind::block_load) {
    return view.refuse(value, "lies in shared memory, but not as a descriptor loads it");
  }
  const auto access = *ir::memory_access(view.program().op(*load));
  const ir::Type descriptor = ir::type_of(view.program(), access.address);
  const auto swizzle = swizzle_of(descriptor);
  if (!swizzle) return view.refuse(*load, why_no_swizzle(descriptor));
  const auto& shape = descriptor->element->shape;
  SharedTile tile;
  tile.columns = shape.back();
  tile.rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) tile.rows *= shape[i];
  tile.swizzle = *swizzle;
  tile.transposed = found.transposed;
  tile.type = cpp_type(descriptor->element);
  if (const auto op = filling_op(view, *load)) {
    tile.op = *op;
    tile.buffer = *view.plan().values[op->index()].home;
    return tile;
  }
  const plan::PerTileOp* per_tile_op = view.per_tile_op_of(*load);
  if (per_tile_op != nullptr && per_tile_op->mechanism == plan::Mechanism::tma_load) {
    tile.buffer = per_tile_op->buffers.at(0);
    return tile;
  }
  return view.refuse(value, "has no buffer in the plan");
}

}  // namespace twill::emit::cuda
