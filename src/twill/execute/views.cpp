#include <algorithm>
#include <bit>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/integers.h"
#include "twill/execute/interpreter.h"
#include "twill/execute/scales.h"
#include "twill/execute/slices.h"
#include "twill/execute/strided.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"

/// Tiles in shared and tensor memory.
namespace twill::execute {
namespace {

using ir::OpKind;

View view_of_all(std::shared_ptr<TileMemory> storage) {
  View view{storage, 0, storage->shape, strides_of(storage->shape)};
  return view;
}

const ByteLayout& byte_layout_in(const View& view) {
  return view.as ? *view.as : *view.storage->own;
}

bool is_floating(const View& view) {
  return view.as ? view.as->type->element->kind == ir::TypeKind::floating
                 : view.storage->is_floating();
}

/// Calls visit(i, place) for each element: its number in the view, and its place in the storage.
template <class Visit>
void for_each_place(const View& view, Visit visit) {
  for_each_row(view.shape, view.strides, view.offset,
               [&](std::int64_t i, std::int64_t place, std::int64_t stride, std::int64_t count) {
                 for (std::int64_t k = 0; k < count; ++k) {
                   visit(static_cast<std::size_t>(i + k),
                         static_cast<std::size_t>(place + k * stride));
                 }
               });
}

/// Restricts a dimension of a view to a range; false if the range leaves the view.
bool narrow(View& view, std::size_t dimension, std::int64_t begin, std::int64_t size) {
  if (begin < 0 || size < 0 || begin + size > view.shape[dimension]) return false;
  view.offset += begin * view.strides[dimension];
  view.shape[dimension] = size;
  return true;
}

void drop_first(View& view) {
  view.shape.erase(view.shape.begin());
  view.strides.erase(view.strides.begin());
}

std::size_t byte_at(const ByteLayout& layout, std::size_t element) {
  return static_cast<std::size_t>(layout.at[element]);
}

void put_element(const Tile& tile, std::size_t i, const ByteLayout& layout, std::uint8_t* bytes) {
  const ir::Type element = layout.type->element;
  std::uint64_t bits = 0;
  if (!tile.is_floating()) {
    bits = static_cast<std::uint64_t>(tile.integers()[i]);
  } else if (element->bits == 32) {
    // Copies bits, to keep the payload of NaNs.
    bits = std::bit_cast<std::uint32_t>(tile.numbers()[i]);
  } else {
    bits = bits_of(element, static_cast<double>(tile.numbers()[i]));
  }
  for (std::int64_t b = 0; b < layout.width; ++b, bits >>= 8U) {
    bytes[b] = static_cast<std::uint8_t>(bits & 0xffU);
  }
}

void get_element(Tile& tile, std::size_t i, const ByteLayout& layout, const std::uint8_t* bytes) {
  const ir::Type element = layout.type->element;
  std::uint64_t bits = 0;
  for (std::int64_t b = layout.width; b > 0; --b) bits = bits << 8U | bytes[b - 1];
  if (!tile.is_floating()) {
    tile.integers()[i] = wrapped(static_cast<std::int64_t>(bits), element->bits);
  } else if (element->bits == 32) {
    tile.numbers()[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    tile.numbers()[i] = static_cast<float>(value_of(element, bits));
  }
}

/// Moves the storage's contents to bytes; false for an unknown layout.
bool has_bytes(TileMemory& storage) {
  if (!storage.bytes.empty()) return true;
  if (storage.type == nullptr) return false;
  storage.own = byte_layout_of(storage.type, 0);
  if (!storage.own) return false;
  const auto last = *std::max_element(storage.own->at.begin(), storage.own->at.end());
  storage.bytes.resize(static_cast<std::size_t>(last + storage.own->width));
  for (std::size_t i = 0; i < storage.own->at.size(); ++i) {
    put_element(storage, i, *storage.own, &storage.bytes[byte_at(*storage.own, i)]);
  }
  return true;
}

}  // namespace

Tile read(const View& view) {
  Tile tile = poison(view.shape, is_floating(view));
  if (!view.storage->bytes.empty()) {
    const ByteLayout& layout = byte_layout_in(view);
    for_each_place(view, [&](std::size_t i, std::size_t place) {
      get_element(tile, i, layout, &view.storage->bytes[byte_at(layout, place)]);
    });
    return tile;
  }
  const TileMemory& from = *view.storage;
  if (tile.is_floating()) {
    gather(tile.numbers(), from.numbers(), view.shape, view.strides, view.offset);
  } else {
    gather(tile.integers(), from.integers(), view.shape, view.strides, view.offset);
  }
  return tile;
}

void write(const View& view, const Tile& tile) {
  if (!view.storage->bytes.empty()) {
    const ByteLayout& layout = byte_layout_in(view);
    return for_each_place(view, [&](std::size_t i, std::size_t place) {
      put_element(tile, i, layout, &view.storage->bytes[byte_at(layout, place)]);
    });
  }
  TileMemory& to = *view.storage;
  if (tile.is_floating()) {
    scatter(to.numbers(), tile.numbers(), view.shape, view.strides, view.offset);
  } else {
    scatter(to.integers(), tile.integers(), view.shape, view.strides, view.offset);
  }
}

std::vector<Range> byte_ranges(const View& view) {
  const ByteLayout& layout = byte_layout_in(view);
  std::vector<std::int64_t> bytes;
  bytes.reserve(static_cast<std::size_t>(size_of(view.shape)));
  for_each_place(view, [&](std::size_t, std::size_t place) { bytes.push_back(layout.at[place]); });
  if (bytes.empty()) return {};
  const auto [first, last] = std::minmax_element(bytes.begin(), bytes.end());
  std::vector<bool> begins(static_cast<std::size_t>(*last - *first) + 1);
  for (const std::int64_t byte : bytes) begins[static_cast<std::size_t>(byte - *first)] = true;
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (!begins[i]) continue;
    const std::int64_t byte = *first + static_cast<std::int64_t>(i);
    if (!ranges.empty() && ranges.back().end >= byte) {
      ranges.back().end = byte + layout.width;
    } else {
      ranges.push_back({byte, byte + layout.width});
    }
  }
  return ranges;
}

std::optional<View> cast(const View& view, ir::Type type) {
  TileMemory& storage = *view.storage;
  if (!has_bytes(storage) || view.shape.empty()) return std::nullopt;
  const std::vector<Range> from = byte_ranges(view);
  const bool whole = from.size() == 1 || type->space == ir::MemorySpace::tensor;
  if (from.empty() || !whole) return std::nullopt;
  const auto same = [&](const auto& other) {
    return other->type == type && other->base == from.front().begin;
  };
  auto found = std::find_if(storage.others.begin(), storage.others.end(), same);
  if (found == storage.others.end()) {
    auto made = byte_layout_of(type, from.front().begin);
    if (!made) return std::nullopt;
    made->number = storage.others.size() + 1;
    storage.others.push_back(std::make_shared<const ByteLayout>(std::move(*made)));
    found = storage.others.end() - 1;
  }
  View result{view.storage, 0, type->shape, strides_of(type->shape), *found};
  return result;
}

namespace {

constexpr std::int64_t kNoBase = -1;  ///< of the bytes of a view, which have no common base

/// Strides of the same elements in another shape; nullopt if they are irregular.
std::optional<Shape> strides_in(const View& view, const Shape& shape) {
  Shape extents, steps;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    extents.push_back(view.shape[d]);
    steps.push_back(view.strides[d]);
  }
  Shape strides(shape.size(), 1);
  for (std::size_t from = 0, to = 0; from < extents.size();) {
    // Groups of dimensions, in both shapes from here on, with equally many elements.
    std::size_t end = from + 1, until = to;
    std::int64_t has = extents[from], makes = 1;
    while (has != makes) {
      if (makes < has) {
        if (until == shape.size()) return std::nullopt;
        makes *= shape[until++];
        continue;
      }
      if (end == extents.size() || steps[end - 1] != steps[end] * extents[end]) return std::nullopt;
      has *= extents[end++];
    }
    std::int64_t stride = steps[end - 1];
    for (std::size_t d = until; d-- > to;) {
      strides[d] = stride;
      stride *= shape[d];
    }
    from = end;
    to = until;
  }
  return strides;
}

}  // namespace

std::optional<View> reshaped(const View& view, ir::Type type) {
  if (size_of(view.shape) != size_of(type->shape)) return std::nullopt;
  if (auto strides = strides_in(view, type->shape)) {
    return View{view.storage, view.offset, type->shape, *std::move(strides), view.as};
  }
  TileMemory& storage = *view.storage;
  if (!has_bytes(storage)) return std::nullopt;
  const ByteLayout& from = byte_layout_in(view);
  ByteLayout made{from.type, storage.others.size() + 1, kNoBase, from.width, {}};
  for_each_place(view, [&](std::size_t, std::size_t at) { made.at.push_back(from.at[at]); });
  auto found =
      std::ranges::find_if(storage.others, [&](const auto& other) { return other->at == made.at; });
  if (found == storage.others.end()) {
    storage.others.push_back(std::make_shared<const ByteLayout>(std::move(made)));
    found = storage.others.end() - 1;
  }
  return View{view.storage, 0, type->shape, strides_of(type->shape), *found};
}

Result<View> Interpreter::view_of(ir::OpId reader, ir::ValueId value) const {
  const View* view = std::get_if<View>(&this->value(value));
  if (view == nullptr) return cannot(program_, reader, "needs memory that was not allocated");
  return *view;
}

Result<void> Interpreter::write_view(ir::OpId op, const View& view, const Tile& tile) {
  const bool fits =
      size_of(view.shape) == size_of(tile.shape) && is_floating(view) == tile.is_floating();
  if (!fits) return cannot(program_, op, "writes a tile that does not fit");
  write(view, tile);
  return {};
}

Result<void> Interpreter::allocate(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const ir::Type type = ir::type_of(program_, op.results[0]);
  const ir::Type element = scalar_of(type);
  if (element_count(type) < 0) return cannot(program_, id, "has no known size");
  const bool floating = element->kind == ir::TypeKind::floating;
  const View view = view_of_all(std::make_shared<TileMemory>(poison(type->shape, floating), type));
  set(op.results[0], view);
  const auto source = ir::operand_in(op, ir::Role::source);
  if (!source) return {};
  TWILL_TRY(const TilePtr tile, this->tile(id, *source));
  return write_view(id, view, *tile);
}

std::optional<Shape> slice_offsets(const ir::Program& program, const ir::Op& op) {
  const bool slices = op.kind == OpKind::buffer_slice || op.kind == OpKind::tensor_slice;
  if (!slices || !op.offsets || op.operands.empty() || op.results.empty()) return std::nullopt;
  const ir::Type from = ir::type_of(program, op.operands[0]);
  const std::size_t rank = from->shape.size();
  Shape offsets = *op.offsets;
  if (op.kind == OpKind::tensor_slice && offsets.size() == 1 && rank > 0) {
    offsets.insert(offsets.begin(), rank - 1, 0);
    const auto blocks = ir::tensor_memory_encoding(from->encoding);
    if (offsets.back() != 0 && rank == 2 && blocks && from->shape[0] > blocks->block_m) {
      return std::nullopt;
    }
  }
  const bool fits =
      offsets.size() == rank && ir::type_of(program, op.results[0])->shape.size() == rank;
  return fits ? std::optional(offsets) : std::nullopt;
}

Result<void> Interpreter::view(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  TWILL_TRY(View view, view_of(id, op.operands[0]));
  const Shape& shape = ir::type_of(program_, op.results[0])->shape;
  bool fits = true;
  if (op.kind == OpKind::buffer_transpose) {
    const auto& order = op.order;
    const View from = view;
    fits = order && order->size() == view.shape.size();
    for (std::size_t d = 0; fits && d < order->size(); ++d) {
      const auto source = static_cast<std::size_t>((*order)[d]);
      fits = source < from.shape.size();
      if (!fits) break;
      view.shape[d] = from.shape[source];
      view.strides[d] = from.strides[source];
    }
  } else if (op.kind == OpKind::buffer_index) {
    TWILL_TRY(const std::int64_t index, integer(id, op.operands[1]));
    fits = !view.shape.empty() && narrow(view, 0, index, 1);
    if (fits) drop_first(view);
  } else if (op.kind == OpKind::buffer_reshape) {
    const auto other = reshaped(view, ir::type_of(program_, op.results[0]));
    fits = other.has_value();
    if (other) view = *other;
  } else if (op.kind == OpKind::buffer_cast) {
    const auto other = cast(view, ir::type_of(program_, op.results[0]));
    if (!other) return cannot(program_, id, "looks at memory with a layout that is not known");
    const auto from = byte_ranges(view), to = byte_ranges(*other);
    fits = from.front().begin <= to.front().begin && to.back().end <= from.back().end;
    view = *other;
  } else {
    const auto offsets = slice_offsets(program_, op);
    fits = offsets && offsets->size() == view.shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) {
      fits = narrow(view, d, (*offsets)[d], shape[d]);
    }
  }
  if (!fits || view.shape != shape) return cannot(program_, id, "is a view that is not known");
  set(op.results[0], std::move(view));
  return {};
}

/// Carries out D += A B in tensor memory.
Result<void> Interpreter::multiply(ir::OpId id) {
  const auto operands = ir::mma_operands(program_.op(id));
  if (!operands) return cannot(program_, id, "has operands that do not fit");
  TWILL_TRY(const bool skip, skipped(id));
  if (skip) return {};
  TWILL_TRY(TilePtr a, tile(id, operands->a));
  TWILL_TRY(TilePtr b, tile(id, operands->b));
  if (operands->a_scale && operands->b_scale) {
    TWILL_TRY(const TilePtr a_scales, tile(id, *operands->a_scale));
    TWILL_TRY(const TilePtr b_scales, tile(id, *operands->b_scale));
    TWILL_TRY(a, scaled_operand(program_, id, *a, *a_scales, ScaledSide::left));
    TWILL_TRY(b, scaled_operand(program_, id, *b, *b_scales, ScaledSide::right));
  }
  TWILL_TRY(const View view, view_of(id, operands->accumulator));
  Tile sums = read(view);
  if (operands->use_accumulator) {
    TWILL_TRY(const std::int64_t use, integer(id, *operands->use_accumulator));
    if (use == 0) std::fill(sums.numbers().begin(), sums.numbers().end(), 0.0F);
  }
  TWILL_TRY_VOID(check_product(program_, id, *a, *b, sums));
  multiply_add(*a, *b, sums);
  const ir::Type type = ir::type_of(program_, operands->accumulator);
  TWILL_TRY(const Tile result, converted(program_, id, std::move(sums), type));
  return write_view(id, view, result);
}

Result<void> Interpreter::copy_to_tensor_memory(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const auto source = ir::operand_in(op, ir::Role::source);
  const auto destination = ir::operand_in(op, ir::Role::destination);
  if (!source || !destination) return cannot(program_, id, "has operands that do not fit");
  TWILL_TRY(const View from, view_of(id, *source));
  TWILL_TRY(const View to, view_of(id, *destination));
  return write_view(id, to, read(from));
}

Result<void> Interpreter::access_tile_memory(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  switch (op.kind) {
    case OpKind::shared_alloc:
    case OpKind::tensor_alloc:
      return allocate(id);
    case OpKind::shared_load:
    case OpKind::tensor_load: {
      TWILL_TRY(const View view, view_of(id, op.operands[0]));
      return set_tile(id, 0, read(view));
    }
    case OpKind::shared_store:
    case OpKind::tensor_store: {
      TWILL_TRY(const bool skip, skipped(id));
      const auto source = ir::operand_in(op, ir::Role::source);
      const auto destination = ir::operand_in(op, ir::Role::address);
      if (!source || !destination) return cannot(program_, id, "has operands that do not fit");
      if (skip) return {};
      TWILL_TRY(const TilePtr tile, this->tile(id, *source));
      TWILL_TRY(const View view, view_of(id, *destination));
      return write_view(id, view, *tile);
    }
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled:
      return multiply(id);
    case OpKind::tensor_copy:
      return copy_to_tensor_memory(id);
    default:
      return view(id);
  }
}

}  // namespace twill::execute
