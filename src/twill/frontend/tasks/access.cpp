#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"

namespace twill::frontend::from_tasks {

using tasks::Size;
using tasks::Where;

namespace {

/// Whether a size is never negative: extents and indices, their sums and products.
bool is_count(const Size& size) {
  if (size.constant()) return *size.constant() >= 0;
  if (size.kind() == Size::Kind::name) return true;
  return size.kind() != Size::Kind::sub && is_count(size.left()) && is_count(size.right());
}

const char* op_of(Size::Kind kind) {
  switch (kind) {
    case Size::Kind::add:
      return "arith.addi";
    case Size::Kind::sub:
      return "arith.subi";
    case Size::Kind::mul:
      return "arith.muli";
    case Size::Kind::min:
      return "arith.minsi";
    case Size::Kind::max:
      return "arith.maxsi";
    default:
      return "arith.divsi";
  }
}

/// Quotient rounded up, by operations that every printer has. Division rounds towards zero, so
/// negative dividends are treated separately.
Size rounded_up(const Size& a, const Size& b) {
  const Size above = (max(a, Size(0)) + b - 1) / b;
  return is_count(a) ? (a + (b - 1)) / b : above + min(a, Size(0)) / b;
}

}  // namespace

std::size_t Lowering::scope_of(const Size& size) const {
  std::size_t scope = 0;
  for (const std::string& name : names_in(size)) {
    const auto index = state_.indices.find(name);
    if (index != state_.indices.end()) scope = std::max(scope, index->second.scope);
  }
  return scope;
}

std::size_t Lowering::scope_of(const Place& place) const {
  std::size_t scope = state_.branch;
  for (const Size& offset : place.offset) scope = std::max(scope, scope_of(offset));
  for (const auto& [dimension, every] : place.every) scope = std::max(scope, scope_of(every));
  return scope;
}

std::string Lowering::integer(const Size& size, const Where& where) {
  if (size.constant()) return state_.text.integer(*size.constant());
  const std::size_t scope = scope_of(size);
  if (size.kind() == Size::Kind::name) {
    const auto index = state_.indices.find(size.name());
    if (index == state_.indices.end()) {
      state_.sizes[size.name()] = true;
      return "%" + size.name();
    }
    if (index->second.step == 1) return index->second.value;
    const std::string step = state_.text.integer(index->second.step);
    return state_.text.once(
        scope, "i", fmt::format("arith.divsi {}, {} : i32", index->second.value, step), where);
  }
  if (size.kind() == Size::Kind::mul && size.left().kind() == Size::Kind::name) {
    const auto index = state_.indices.find(size.left().name());
    const bool counted = index != state_.indices.end() && index->second.step > 1;
    if (counted && size.right() == Size(index->second.step)) return index->second.value;
  }
  if (size.kind() == Size::Kind::cdiv) {
    return integer(rounded_up(size.left(), size.right()), where);
  }
  const std::string left = integer(size.left(), where);
  const std::string right = integer(size.right(), where);
  return state_.text.once(scope, "n",
                          fmt::format("{} {}, {} : i32", op_of(size.kind()), left, right), where);
}

std::vector<std::string> Lowering::coordinates(const Place& place, const Where& where) {
  std::vector<std::string> all;
  for (const Size& offset : place.offset) all.push_back(integer(offset, where));
  return all;
}

Result<TileType> Lowering::type_of(const Place& place, const Where& where) {
  const tasks::Argument& argument = tree_.root.task->arguments[place.argument];
  TWILL_TRY(TileType type, type_of(place.extent, argument.scalar, argument.name, where));
  if (type.shape.size() <= 2) return type;
  return tasks::fail_task("M09", where,
                          fmt::format("the part of '{}' has {} dimensions; tiles have 2, and "
                                      "vectors 1",
                                      argument.name, type.shape.size()),
                          "pick(X, i) has one dimension less");
}

/// Whether a tile is accessed through pointers. A descriptor has at most five dimensions and no
/// elements at a distance, and picks only from its first dimensions.
bool Lowering::is_by_pointers(const Place& place) const {
  constexpr std::size_t kMostDimensions = 5;
  const std::size_t rank = tree_.root.task->arguments[place.argument].shape.size();
  const std::size_t first = rank - place.dimensions.size();
  bool is_last = true;
  for (std::size_t i = 0; i < place.dimensions.size(); ++i) {
    is_last = is_last && place.dimensions[i] == first + i;
  }
  return by_pointers_.count(place.argument) > 0 || !place.every.empty() || !is_last ||
         rank > kMostDimensions;
}

/// The box in which TMA copies the tile, with a 1 for each picked dimension. nullopt if threads
/// must copy: vectors, and rows of bytes other than 32, 64, or multiples of 16 from 128 on.
std::optional<TileType> Lowering::box_of(const Place& place, const TileType& tile) const {
  const std::size_t rank = tree_.root.task->arguments[place.argument].shape.size();
  if (is_by_pointers(place) || tile.shape.size() == 1 || swizzle_of(tile) == 0) {
    return std::nullopt;
  }
  TileType box{Extents(rank - tile.shape.size(), 1), tile.scalar};
  box.shape.insert(box.shape.end(), tile.shape.begin(), tile.shape.end());
  return box;
}

std::string Lowering::parameter(std::size_t argument, const std::string& type) {
  std::string name = tree_.root.task->arguments[argument].name;
  std::size_t same = 0;
  for (const Parameter& it : state_.parameters) {
    if (it.argument != argument) continue;
    if (it.type == type) return "%" + it.name;
    ++same;
  }
  if (same > 0) name += "_" + std::to_string(same + 1);
  state_.parameters.push_back({argument, name, type});
  return "%" + name;
}

/// Elements from one index of the dimension to the next: arrays are row-major.
Size Lowering::stride_of(const Place& place, std::size_t dimension) const {
  const std::vector<Size>& shape = tree_.root.task->arguments[place.argument].shape;
  Size stride = 1;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) {
    stride = stride * substituted(shape[d], fixed_sizes());
  }
  return stride;
}

/// Pointer to the first element at the picked indices.
std::string Lowering::base_of(const Place& place, const std::string& scalar, std::size_t scope,
                              const Where& where) {
  const std::string pointer = "!tt.ptr<" + scalar + ">";
  const std::string base = parameter(place.argument, pointer);
  for (Parameter& it : state_.parameters) {
    if (it.argument == place.argument && it.type == pointer && is_by_pointers(place)) {
      it.aligned = true;
    }
  }
  Size offset = 0;
  for (std::size_t d = 0; d < place.offset.size(); ++d) {
    const auto& kept = place.dimensions;
    if (std::find(kept.begin(), kept.end(), d) != kept.end()) continue;
    offset = offset + place.offset[d] * stride_of(place, d);
  }
  if (offset == Size(0)) return base;
  return state_.text.once(
      scope, "b", fmt::format("tt.addptr {}, {} : {}, i32", base, integer(offset, where), pointer),
      where);
}

/// Text of a tile's pointers and mask.
class PointerText {
 public:
  PointerText(Lowering& lowering, const Place& place, TileType type, std::size_t scope,
              const Where& where)
      : it_(lowering), place_(place), type_(std::move(type)), scope_(scope), where_(where) {}

  Lowering::Pointers run() {
    const std::string scalar(ir_name_of(type_.scalar));
    const std::size_t outer = it_.scope_of(place_);
    const std::string base = it_.base_of(place_, scalar, outer, where_);
    const std::string element = "!tt.ptr<" + scalar + ">";
    std::string addresses, mask;
    TileType at;  // type of the addresses so far
    for (std::size_t d = 0; d < type_.shape.size(); ++d) {
      const TileType along = along_of(d);
      const std::string index = index_of(d, along);
      mask = both(mask, at, mask_of(d, index, along), along);
      const std::string offset = times_stride(d, index, along);
      if (d == 0) {
        at = along;
        addresses =
            put(outer, "b",
                fmt::format("tt.splat {} : {} -> {}", base, element, tensor_text(at, element)));
      } else {
        addresses = spread(addresses, at, element);
        at = type_;
      }
      const std::string wide = spread_to(offset, along, at, "i32");
      addresses = put(scope_, "p",
                      fmt::format("tt.addptr {}, {} : {}, {}", addresses, wide,
                                  tensor_text(at, element), tensor_text(at, "i32")));
    }
    return {addresses, mask, tensor_text(type_, element)};
  }

 private:
  std::string put(std::size_t scope, const char* name, const std::string& text) {
    return it_.state_.text.once(scope, name, text, where_);
  }

  /// The type of one number for each index of a dimension.
  TileType along_of(std::size_t d) const {
    TileType type = type_;
    for (std::size_t other = 0; other < type.shape.size(); ++other) {
      if (other != d) type.shape[other] = 1;
    }
    return type;
  }

  std::string index_of(std::size_t d, const TileType& along) {
    const bool vector = type_.shape.size() == 1;
    const int gone = d == 0 ? 1 : 0;
    const TileType line{{type_.shape[d]},
                        type_.scalar,
                        vector ? type_.layout : TileLayouts::without(gone, type_.layout)};
    const std::string integers = tensor_text(line, "i32");
    const std::string range =
        put(0, "r",
            fmt::format("tt.make_range {{end = {} : i32, start = 0 : i32}} : {}", line.shape[0],
                        integers));
    const std::size_t dimension = place_.dimensions[d];
    const Size every = every_of(place_, dimension);
    const std::string apart =
        every == Size(1)
            ? range
            : put(it_.scope_of(every), "r",
                  fmt::format("arith.muli {}, {} : {}", range, number(every, line), integers));
    const std::string first = it_.integer(place_.offset[dimension], where_);
    const std::string splat =
        put(scope_, "s", fmt::format("tt.splat {} : i32 -> {}", first, integers));
    const std::string index =
        put(scope_, "x", fmt::format("arith.addi {}, {} : {}", splat, apart, integers));
    if (vector) return index;
    return put(scope_, "u",
               fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", index, gone,
                           integers, tensor_text(along, "i32")));
  }

  std::string number(const Size& size, const TileType& type) {
    return put(it_.scope_of(size), "e",
               fmt::format("tt.splat {} : i32 -> {}", it_.integer(size, where_),
                           tensor_text(type, "i32")));
  }

  std::string compared(const char* how, const std::string& index, const Size& with,
                       const TileType& type) {
    return put(scope_, "in",
               fmt::format("arith.cmpi {}, {}, {} : {}", how, index, number(with, type),
                           tensor_text(type, "i32")));
  }

  std::string mask_of(std::size_t d, const std::string& index, const TileType& along) {
    const tasks::Argument& argument = it_.tree_.root.task->arguments[place_.argument];
    const Size end = substituted(argument.shape[place_.dimensions[d]], it_.fixed_sizes());
    const std::string before_end = compared("slt", index, end, along);
    if (!place_.may_begin_before) return before_end;
    return both(compared("sge", index, 0, along), along, before_end, along);
  }

  /// Mask of the elements in both masks; the first mask may be empty.
  std::string both(const std::string& a, const TileType& of_a, const std::string& b,
                   const TileType& of_b) {
    if (a.empty()) return b;
    const TileType& type = of_a.shape == of_b.shape ? of_a : type_;
    const std::string left = spread_to(a, of_a, type, "i1");
    const std::string right = spread_to(b, of_b, type, "i1");
    return put(scope_, "in",
               fmt::format("arith.andi {}, {} : {}", left, right, tensor_text(type, "i1")));
  }

  std::string times_stride(std::size_t d, const std::string& index, const TileType& along) {
    const Size stride = it_.stride_of(place_, place_.dimensions[d]);
    if (stride == Size(1)) return index;
    return put(scope_, "n",
               fmt::format("arith.muli {}, {} : {}", index, number(stride, along),
                           tensor_text(along, "i32")));
  }

  std::string spread_to(const std::string& value, const TileType& from, const TileType& to,
                        const std::string& element) {
    return from.shape == to.shape ? value : spread(value, from, element);
  }
  std::string spread(const std::string& value, const TileType& from, const std::string& element) {
    return put(scope_, "w",
               fmt::format("tt.broadcast {} : {} -> {}", value, tensor_text(from, element),
                           tensor_text(type_, element)));
  }

  Lowering& it_;
  const Place& place_;
  TileType type_;
  std::size_t scope_;
  Where where_;
};

Lowering::Pointers Lowering::pointers(const Place& place, const TileType& type, std::size_t scope,
                                      const Where& where) {
  return PointerText(*this, place, type, scope, where).run();
}

/// Number for elements beyond the edge of a part.
Result<double> Lowering::fill_of(const Place& place, const Where& where) const {
  std::optional<double> fill;
  for (const auto& [dimension, number] : place.fills) {
    if (fill.value_or(number) == number) {
      fill = number;
      continue;
    }
    return tasks::fail_task(
        "M09", where,
        fmt::format("'{}' is cut twice, with {} beyond one edge and {} beyond the other",
                    tree_.root.task->arguments[place.argument].name, *fill, number),
        "a tile that is loaded has one number beyond its edges: let all its blocks say the same");
  }
  return fill.value_or(0);
}

Result<Loaded> Lowering::load(const Place& place, const std::string& name, const Where& where,
                              bool by_threads, int swizzle) {
  TWILL_TRY(TileType type, type_of(place, where));
  const bool constant =
      tree_.root.task->arguments[place.argument].privilege == tasks::Privilege::reads;
  const std::size_t scope = constant ? scope_of(place) : state_.text.innermost();
  TWILL_TRY(const double fill, fill_of(place, where));
  const auto box = box_of(place, type);
  if (by_threads || fill != 0 || !box) {
    const Pointers from = pointers(place, type, scope, where);
    const std::string beyond =
        state_.text.once(0, fill == 0 ? "zero" : "fill",
                         fmt::format("arith.constant dense<{}> : {}",
                                     number_text(fill, type.scalar), tensor_text(type)),
                         where);
    const std::string what =
        fmt::format("tt.load {}, {}, {} : {}", from.addresses, from.mask, beyond, from.type);
    const std::string value = constant ? state_.text.once(scope, name, what, where)
                                       : state_.text.put(scope, name, what, where);
    return Loaded{value, std::move(type)};
  }
  type.layout = state_.text.layouts().loaded(type.shape, bytes_of(type.scalar));
  if (swizzle == 0) swizzle = operand_swizzle(*box);
  if (swizzle == 0) swizzle = swizzle_of(*box);
  const std::string box_text = descriptor_text(*box, swizzle);
  state_.text.use_layout(swizzle, false, 8 * bytes_of(box->scalar), box->shape.size());
  const std::string descriptor = parameter(place.argument, box_text);
  const std::string what =
      fmt::format("tt.descriptor_load {}[{}] : {} -> {}", descriptor,
                  fmt::join(coordinates(place, where), ", "), box_text, tensor_text(type));
  const std::string value = constant ? state_.text.once(scope, name, what, where)
                                     : state_.text.put(scope, name, what, where);
  return Loaded{value, std::move(type)};
}

Result<std::string> Lowering::load_shared(const Place& place, const std::string& name, int swizzle,
                                          const Where& where) {
  TWILL_TRY(const double fill, fill_of(place, where));
  if (fill != 0) {
    return tasks::fail_task(
        "M09", where,
        fmt::format("the tile '{}' of a product is copied to shared memory with zeros beyond its "
                    "edge, not with {}",
                    name, fill),
        "a product adds up zeros: leave fill out");
  }
  TWILL_TRY(const Loaded loaded, load(place, name, where, false, swizzle));
  const auto& [tile, type] = loaded;
  const bool constant =
      tree_.root.task->arguments[place.argument].privilege == tasks::Privilege::reads;
  const std::size_t scope = constant ? scope_of(place) : state_.text.innermost();
  state_.text.use_layout(swizzle, false, 8 * bytes_of(type.scalar));
  const std::string what = fmt::format("ttg.local_alloc {} : ({}) -> {}", tile, tensor_text(type),
                                       buffer_text(type, swizzle, false));
  return state_.text.once(scope, name + "s", what, where);
}

/// Box for stores. TMA moves panels of 128 bytes from registers; threads write vectors, and tiles
/// with shorter rows.
std::optional<TileType> Lowering::written_box(const Place& place, const TileType& type) const {
  return swizzle_of(type) == kPanel ? box_of(place, type) : std::nullopt;
}

Result<void> Lowering::store(const Place& place, const std::string& tile, const Where& where) {
  TWILL_TRY(const TileType type, type_of(place, where));
  const auto box = written_box(place, type);
  if (box && bytes_of(type.scalar) == 2) {
    write_box("tt.descriptor_store", place, type, *box, tile, where);
    return {};
  }
  const std::size_t scope = state_.text.innermost();
  const Pointers to = pointers(place, type, scope, where);
  state_.text.line(
      scope, fmt::format("tt.store {}, {}, {} : {}", to.addresses, tile, to.mask, to.type), where);
  return {};
}

void Lowering::write_box(const std::string& op, const Place& place, const TileType& type,
                         TileType box, const std::string& tile, const Where& where) {
  const std::size_t scope = state_.text.innermost();
  const std::string box_text = descriptor_text(box, kPanel);
  state_.text.use_layout(kPanel, false, 8 * bytes_of(box.scalar), box.shape.size());
  const std::string descriptor = parameter(place.argument, box_text);
  std::string value = tile;
  if (box.shape != type.shape) {
    TileLayouts& layouts = state_.text.layouts();
    TileType laid = type;
    if (const auto unmoved = layouts.reshaped(type.layout, type.shape, box.shape)) {
      box.layout = *unmoved;
    } else {
      laid.layout = layouts.loaded(type.shape, bytes_of(type.scalar));
      box.layout = layouts.loaded(box.shape, bytes_of(box.scalar));
      value = state_.text.once(scope, "y",
                               fmt::format("ttg.convert_layout {} : {} -> {}", value,
                                           tensor_text(type), tensor_text(laid)),
                               where);
    }
    value = state_.text.once(
        scope, "g",
        fmt::format("tt.reshape {} : {} -> {}", value, tensor_text(laid), tensor_text(box)), where);
  } else {
    box.layout = type.layout;
  }
  state_.text.line(
      scope,
      fmt::format("{} {}[{}], {} : {}, {}", op, descriptor,
                  fmt::join(coordinates(place, where), ", "), value, box_text, tensor_text(box)),
      where);
}

/// Arguments in the order of the entry. A tensor is a pointer, or a descriptor with sizes and
/// strides as Triton passes it. Further sizes that the kernel needs come last.
Result<std::string> Lowering::argument_text() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t a = 0; a < tree_.root.task->arguments.size(); ++a) {
    for (const Parameter& it : state_.parameters) {
      if (it.argument != a) continue;
      all.emplace_back(it.name, it.type + (it.aligned ? " {tt.divisibility = 16 : i32}" : ""));
      if (it.type.starts_with("!tt.ptr")) continue;
      const std::size_t rank = tree_.root.task->arguments[a].shape.size();
      for (std::size_t d = 0; d < rank; ++d) {
        const std::string size =
            rank == 2 ? (d == 0 ? "_rows" : "_columns") : fmt::format("_size{}", d);
        all.emplace_back(it.name + size, "i32");
      }
      for (std::size_t d = 0; d < rank; ++d) {
        all.emplace_back(fmt::format("{}_stride{}", it.name, d), "i64");
      }
    }
  }
  for (const auto& [name, used] : state_.sizes) all.emplace_back(name, "i32");
  std::set<std::string> names;
  std::string text;
  for (const auto& [name, type] : all) {
    if (!names.insert(name).second) {
      return tasks::fail_task(
          "T02", tree_.root.task->where,
          fmt::format("the kernel would have two arguments '{}', of the tensors "
                      "and sizes of '{}'",
                      name, tree_.root.task->name),
          "give one of them another name");
    }
    text += fmt::format("{}%{}: {}", text.empty() ? "" : ", ", name, type);
  }
  return text;
}

}  // namespace twill::frontend::from_tasks
