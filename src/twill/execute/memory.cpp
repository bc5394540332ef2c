#include "twill/execute/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/integers.h"
#include "twill/execute/rounding.h"
#include "twill/execute/updates.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;

constexpr int kIndexBits = 48;
constexpr std::int64_t kMiddle = std::int64_t{1}
                                 << (kIndexBits - 1);  ///< place of an array's index 0

/// Mixes bits to evenly spread ones (the finalizer of splitmix64).
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

Result<Pointer> target(const ir::Program& program, ir::OpId op, const Memory& memory,
                       std::int64_t bits) {
  const Pointer at = unpacked(bits);
  if (memory.element(at.array) == nullptr) return cannot(program, op, "follows a wild pointer");
  return at;
}

double element_of(const Tile& tile, std::size_t i) {
  const std::size_t at = tile.shape.empty() ? 0 : i;
  return tile.is_floating() ? static_cast<double>(tile.numbers()[at])
                            : static_cast<double>(tile.integers()[at]);
}

void set_element(Tile& tile, std::size_t i, double value) {
  if (tile.is_floating()) {
    tile.numbers()[i] = static_cast<float>(value);
  } else {
    tile.integers()[i] = static_cast<std::int64_t>(value);
  }
}

std::uint64_t as_bits(ir::Type element, double value) {
  return element->name == "f32" ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                : bits_of(element, value);
}

double from_bits(ir::Type element, std::uint64_t bits) {
  return element->name == "f32"
             ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
             : value_of(element, bits);
}

/// Value of an element of type `from` when read through a pointer to `to`: the same bits. Returns
/// the value unchanged for types of other widths, and for two names of one type.
double seen_as(ir::Type from, ir::Type to, double value) {
  const bool alike = from->kind == to->kind && from->kind != ir::TypeKind::floating;
  if (from == to || alike || from->bits != to->bits) return value;
  return from_bits(to, as_bits(from, value));
}

Tile zeros_of(ir::Type element, Shape shape) {
  const auto size = static_cast<std::size_t>(size_of(shape));
  if (element->kind == ir::TypeKind::floating) return {std::move(shape), Numbers(size)};
  return {std::move(shape), Integers(size)};
}

/// Calls visit(i, pointer) for each element of the block that lies in the tensor, row by row.
template <class Visit>
void for_each_place(const Descriptor& tensor, std::span<const std::int64_t> coordinates,
                    const Shape& block, Visit visit) {
  if (block.empty()) return visit(0, tensor.base);
  const std::size_t last = block.size() - 1;
  const std::int64_t begin = std::clamp<std::int64_t>(-coordinates[last], 0, block[last]);
  std::int64_t end = block[last];
  if (!tensor.shape.empty()) {
    end = std::clamp(tensor.shape[last] - coordinates[last], begin, end);
  }
  Shape rows = block;
  rows[last] = 1;
  Shape at(block.size(), 0);
  const std::int64_t count = size_of(rows);
  for (std::int64_t row = 0; row < count; ++row) {
    bool inside = true;
    Pointer place = tensor.base;
    for (std::size_t d = 0; d < block.size(); ++d) {
      const std::int64_t coordinate = coordinates[d] + at[d];
      const bool beyond = !tensor.shape.empty() && coordinate >= tensor.shape[d];
      inside = inside && (d == last || (coordinate >= 0 && !beyond));
      place.index += coordinate * tensor.strides[d];
    }
    for (std::int64_t k = begin; inside && k < end; ++k) {
      visit(static_cast<std::size_t>(row * block[last] + k),
            Pointer{place.array, place.index + k * tensor.strides[last]});
    }
    for (std::size_t d = last; d > 0 && ++at[d - 1] == block[d - 1]; --d) at[d - 1] = 0;
  }
}

bool fits(const Descriptor& tensor, std::span<const std::int64_t> coordinates, const Shape& block) {
  return coordinates.size() == block.size() && tensor.strides.size() == block.size() &&
         (tensor.shape.empty() || tensor.shape.size() == block.size());
}

}  // namespace

std::int64_t packed(Pointer pointer) {
  return ((pointer.array + 1) << kIndexBits) + kMiddle + pointer.index;
}

Pointer unpacked(std::int64_t bits) {
  return {(bits >> kIndexBits) - 1, (bits & ((std::int64_t{1} << kIndexBits) - 1)) - kMiddle};
}

std::optional<std::int64_t> Memory::add_array(std::string name, ir::Type element, Values values) {
  const auto format = element->kind == ir::TypeKind::floating ? format_of(element) : std::nullopt;
  const bool integer = element->kind == ir::TypeKind::integer && element->bits <= 64;
  if (!format && !integer) return std::nullopt;
  arrays_.push_back({std::move(name), element, format, std::move(values), {}});
  return std::ssize(arrays_) - 1;
}

ir::Type Memory::element(std::int64_t array) const {
  if (array < 0 || array >= std::ssize(arrays_)) return nullptr;
  return arrays_[static_cast<std::size_t>(array)].element;
}

double Memory::Array::rounded(double value) const {
  if (format) return static_cast<double>(round_to(*format, value));
  return static_cast<double>(wrapped(static_cast<std::int64_t>(value), element->bits));
}

double Memory::initial(Pointer at) const {
  using Kind = Values::Kind;
  const Array& array = arrays_[static_cast<std::size_t>(at.array)];
  const ir::Type element = array.element;
  const Values& values = array.values;
  const std::uint64_t bits = mixed(mixed(seed_ + static_cast<std::uint64_t>(at.array)) +
                                   static_cast<std::uint64_t>(at.index));
  constexpr unsigned kKept = 24;
  const double share = static_cast<double>(bits >> (64U - kKept)) / (1U << kKept);
  switch (values.kind) {
    case Kind::by_position:
      if (element->kind == ir::TypeKind::floating) return array.rounded(2 * share - 1);
      return static_cast<double>(bits % (element->bits == 1 ? 2 : 64));
    case Kind::constant:
      return array.rounded(values.first);
    case Kind::counted:
      return array.rounded(values.first + values.second * static_cast<double>(at.index));
    case Kind::growing: {
      const auto index = static_cast<double>(std::max<std::int64_t>(at.index, 0));
      const double sum = index * (index - 1) / 2;
      return array.rounded(values.first * (index > 0 ? std::max(sum, 1.0) : 0));
    }
    case Kind::integers: {
      const auto count = static_cast<std::uint64_t>(values.second - values.first);
      return array.rounded(values.first + static_cast<double>(bits % count));
    }
    case Kind::uniform:
      return array.rounded(values.first + (values.second - values.first) * share);
    case Kind::elements:
      if (at.index >= 0 && at.index < std::ssize(*values.elements)) {
        return array.rounded((*values.elements)[static_cast<std::size_t>(at.index)]);
      }
      return 0;
  }
  return 0;
}

Result<void> Memory::check_files() const {
  if (!beyond_) return {};
  const Array& array = arrays_[static_cast<std::size_t>(beyond_->array)];
  return fail({array.values.file}, "has the " + std::to_string(array.values.elements->size()) +
                                       " elements of %" + array.name +
                                       ", of which the kernel reads number " +
                                       std::to_string(beyond_->index));
}

double Memory::read(Pointer at) const {
  const Array& array = arrays_[static_cast<std::size_t>(at.array)];
  const std::int64_t page = at.index >= 0 ? at.index / kPage : -((kPage - 1 - at.index) / kPage);
  const auto found = array.pages.find(page);
  const auto offset = static_cast<std::size_t>(at.index - page * kPage);
  if (found == array.pages.end() || !found->second.set[offset]) {
    const bool in_file = array.values.kind == Values::Kind::elements;
    if (in_file && (at.index < 0 || at.index >= std::ssize(*array.values.elements))) beyond_ = at;
    return initial(at);
  }
  return found->second.values[offset];
}

void Memory::write(Pointer at, double value) {
  Array& array = arrays_[static_cast<std::size_t>(at.array)];
  const std::int64_t page = at.index >= 0 ? at.index / kPage : -((kPage - 1 - at.index) / kPage);
  Page& it = array.pages[page];  // a new page holds zeros
  const auto offset = static_cast<std::size_t>(at.index - page * kPage);
  it.set[offset] = true;
  it.values[offset] = array.rounded(value);
}

Memory::Written Memory::written(std::size_t array) const {
  Written all;
  for (const auto& [page, it] : arrays_[array].pages) {
    for (std::int64_t i = 0; i < kPage; ++i) {
      const auto offset = static_cast<std::size_t>(i);
      if (it.set[offset]) all.emplace_back(page * kPage + i, it.values[offset]);
    }
  }
  return all;
}

namespace {

/// A mask or default of an access: a tile like the access, a scalar for all elements, or absent.
struct Optional {
  TilePtr tile;
  bool fits(const Tile& pointers) const {
    return !tile || tile->shape.empty() || tile->size() == pointers.size();
  }
  double at(std::size_t i) const { return element_of(*tile, i); }
};

Result<Optional> optional(const ir::Op& op, ir::Role role, const Lookup& lookup) {
  const auto value = ir::operand_in(op, role);
  if (!value) return Optional{};
  TWILL_TRY(TilePtr tile, lookup(*value));
  return Optional{std::move(tile)};
}

Result<std::vector<std::int64_t>> coordinates_of(const ir::Program& program, ir::OpId id,
                                                 const Lookup& lookup) {
  std::vector<std::int64_t> coordinates;
  for (const ir::ValueId value : ir::operands_in(program.op(id), ir::Role::coordinates)) {
    TWILL_TRY(const TilePtr tile, lookup(value));
    if (tile->is_floating() || tile->size() != 1) {
      return cannot(program, id, "has coordinates that do not fit");
    }
    coordinates.push_back(tile->integers()[0]);
  }
  return coordinates;
}

/// A block of a descriptor's tensor, and the element of the tile at its first element.
struct Piece {
  std::vector<std::int64_t> coordinates;
  std::size_t first = 0;
};

/// A single block; for a gather or a scatter, a block for each row.
struct Pieces {
  Shape block;
  Shape tile;
  std::vector<Piece> all;
};

Result<Pieces> pieces_of(const ir::Program& program, ir::OpId id, const Descriptor& descriptor,
                         const Lookup& lookup) {
  const auto access = *ir::memory_access(program.op(id));
  TWILL_TRY(std::vector<std::int64_t> coordinates, coordinates_of(program, id, lookup));
  const Shape& block = ir::type_of(program, access.address)->element->shape;
  Pieces pieces{block, block, {}};
  if (!access.rows) {
    pieces.all.push_back({std::move(coordinates), 0});
  } else {
    TWILL_TRY(const TilePtr rows, lookup(*access.rows));
    if (rows->is_floating() || coordinates.size() != 1 || block.size() != 2 || block[0] != 1) {
      return cannot(program, id, "has coordinates that do not fit");
    }
    pieces.tile = {std::ssize(rows->integers()), block[1]};
    const auto width = static_cast<std::size_t>(block[1]);
    for (const std::int64_t row : rows->integers()) {
      pieces.all.push_back({{row, coordinates[0]}, pieces.all.size() * width});
    }
  }
  for (const Piece& piece : pieces.all) {
    if (!fits(descriptor, piece.coordinates, block)) {
      return cannot(program, id, "has coordinates that do not fit");
    }
  }
  return pieces;
}

Result<Tile> load(const ir::Program& program, ir::OpId id, const Memory& memory,
                  const Lookup& lookup) {
  const ir::Op& op = program.op(id);
  const auto access = *ir::memory_access(op);
  TWILL_TRY(const TilePtr pointers, lookup(access.address));
  TWILL_TRY(const Optional mask, optional(op, ir::Role::mask, lookup));
  TWILL_TRY(Optional other, optional(op, ir::Role::fill, lookup));
  if (pointers->is_floating() || !mask.fits(*pointers) || !other.fits(*pointers)) {
    return cannot(program, id, "has operands that do not fit");
  }
  if (op.kind == ir::OpKind::copy_async) other = {};  // Triton's cp.async writes zeros
  const ir::Type element = scalar_of(ir::type_of(program, access.address))->element;
  if (element == nullptr) return cannot(program, id, "follows no pointer");
  Tile tile = zeros_of(element, pointers->shape);
  for (std::size_t i = 0; i < tile.size(); ++i) {
    if (mask.tile && mask.at(i) == 0) {
      if (other.tile) set_element(tile, i, other.at(i));
      continue;
    }
    TWILL_TRY(const Pointer at, target(program, id, memory, pointers->integers()[i]));
    if (memory.accesses() != nullptr) memory.accesses()->read(at);
    set_element(tile, i, seen_as(memory.element(at.array), element, memory.read(at)));
  }
  TWILL_TRY_VOID(memory.check_files());
  return tile;
}

/// Writes an element, or combines with its old value; returns the old value, if needed. The values
/// are of type `type`; null: of the array's type.
double put(Memory& memory, Pointer at, Combine combine, double value, ir::Type type = nullptr) {
  const bool overwrites = combine == take_new || combine == exchange;
  const ir::Type element = memory.element(at.array);
  if (type == nullptr) type = element;
  const double old = combine == take_new ? 0 : seen_as(element, type, memory.read(at));
  memory.write(at, seen_as(type, element, combine(old, value)));
  if (Accesses* accesses = memory.accesses()) {
    overwrites ? accesses->write(at, value) : accesses->combine(at);
  }
  return old;
}

void begin_op(const Memory& memory) {
  if (memory.accesses() != nullptr) memory.accesses()->begin_op();
}

/// Replaces an element if it equals `expected`; returns the old element.
double put_if(Memory& memory, Pointer at, double expected, double value, ir::Type type) {
  const double old = seen_as(memory.element(at.array), type, memory.read(at));
  if (memory.accesses() != nullptr) memory.accesses()->read(at);
  return old == expected ? put(memory, at, exchange, value, type) : old;
}

Result<Tile> store(const ir::Program& program, ir::OpId id, Memory& memory, const Tile& values,
                   const Lookup& lookup) {
  const ir::Op& op = program.op(id);
  const Combine combine = combination(program, op);
  if (combine == nullptr) return cannot(program, id, "combines by an unknown function");
  const ir::ValueId address = ir::memory_access(op)->address;
  const ir::Type element = scalar_of(ir::type_of(program, address))->element;
  TWILL_TRY(const TilePtr pointers, lookup(address));
  TWILL_TRY(const Optional mask, optional(op, ir::Role::mask, lookup));
  TWILL_TRY(const Optional expected, optional(op, ir::Role::expected, lookup));
  if (pointers->is_floating() || pointers->size() != values.size() || !mask.fits(values) ||
      !expected.fits(values)) {
    return cannot(program, id, "has operands that do not fit");
  }
  Tile before = values;
  begin_op(memory);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mask.tile && mask.at(i) == 0) continue;
    TWILL_TRY(const Pointer at, target(program, id, memory, pointers->integers()[i]));
    const double value = element_of(values, i);
    set_element(before, i,
                expected.tile ? put_if(memory, at, expected.at(i), value, element)
                              : put(memory, at, combine, value, element));
  }
  TWILL_TRY_VOID(memory.check_files());
  return before;
}

}  // namespace

Result<Descriptor> made_descriptor(const ir::Program& program, ir::OpId id, const Memory& memory,
                                   const IntegerOf& integer) {
  const ir::Op& op = program.op(id);
  const auto base = ir::operand_in(op, ir::Role::base);
  if (!base) return cannot(program, id, "has operands that do not fit");
  TWILL_TRY(const std::int64_t address, integer(*base));
  Descriptor descriptor{unpacked(address), {}, {}, op.pads_with_nan};
  for (const ir::ValueId extent : ir::operands_in(op, ir::Role::extents)) {
    TWILL_TRY(const std::int64_t number, integer(extent));
    descriptor.shape.push_back(number);
  }
  for (const ir::ValueId stride : ir::operands_in(op, ir::Role::strides)) {
    TWILL_TRY(const std::int64_t number, integer(stride));
    descriptor.strides.push_back(number);
  }
  if (memory.element(descriptor.base.array) == nullptr) {
    return cannot(program, id, "follows a wild pointer");
  }
  return descriptor;
}

Result<Tile> read_global(const ir::Program& program, ir::OpId id, const Memory& memory,
                         const Descriptor* descriptor, const Lookup& lookup) {
  const auto access = ir::memory_access(program.op(id));
  const bool reads = access && access->reads && !access->writes;
  if (!reads || access->space != ir::AccessSpace::global)
    return cannot(program, id, "is not known");
  if (descriptor == nullptr) return load(program, id, memory, lookup);
  TWILL_TRY(const Pieces pieces, pieces_of(program, id, *descriptor, lookup));
  Tile tile = zeros_of(memory.element(descriptor->base.array), pieces.tile);
  if (descriptor->nan_outside && tile.is_floating()) {
    std::ranges::fill(tile.numbers(), std::numeric_limits<float>::quiet_NaN());
  }
  Accesses* accesses = memory.accesses();
  for (const Piece& piece : pieces.all) {
    if (accesses != nullptr) {
      accesses->reach(descriptor->base.array, piece.coordinates, pieces.block, descriptor->shape);
    }
    for_each_place(*descriptor, piece.coordinates, pieces.block, [&](std::size_t i, Pointer at) {
      if (accesses != nullptr) accesses->read(at);
      set_element(tile, piece.first + i, memory.read(at));
    });
  }
  TWILL_TRY_VOID(memory.check_files());
  return tile;
}

Result<Tile> write_global(const ir::Program& program, ir::OpId id, Memory& memory,
                          const Descriptor* descriptor, const Tile& source, const Lookup& lookup,
                          const Box& part) {
  const auto access = ir::memory_access(program.op(id));
  if (!access || !access->writes || access->space != ir::AccessSpace::global) {
    return cannot(program, id, "is not known");
  }
  if (descriptor == nullptr) return store(program, id, memory, source, lookup);
  const Combine combine = combination(program, program.op(id));
  if (combine == nullptr) return cannot(program, id, "combines by an unknown function");
  TWILL_TRY(Pieces pieces, pieces_of(program, id, *descriptor, lookup));
  if (!part.empty() && part != whole(pieces.tile)) {
    if (pieces.all.size() != 1 || part.size() != pieces.block.size()) {
      return cannot(program, id, "runs in parts that do not fit");
    }
    for (std::size_t d = 0; d < part.size(); ++d) {
      pieces.all[0].coordinates[d] += part[d].begin;
      pieces.block[d] = part[d].size();
    }
    pieces.tile = pieces.block;
  }
  if (size_of(pieces.tile) != size_of(source.shape)) {
    return cannot(program, id, "has coordinates that do not fit");
  }
  begin_op(memory);
  for (const Piece& piece : pieces.all) {
    if (Accesses* accesses = memory.accesses()) {
      accesses->reach(descriptor->base.array, piece.coordinates, pieces.block, descriptor->shape);
    }
    for_each_place(*descriptor, piece.coordinates, pieces.block, [&](std::size_t i, Pointer at) {
      put(memory, at, combine, element_of(source, piece.first + i));
    });
  }
  TWILL_TRY_VOID(memory.check_files());
  return Tile{};
}

}  // namespace twill::execute
