#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"

namespace twill::frontend::from_tasks {

using tasks::Size;
using tasks::Where;

namespace {

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
    case Size::Kind::cdiv:
      return "arith.ceildivsi";
    default:
      return "arith.divsi";
  }
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
  std::size_t scope = 0;
  for (const Size& offset : place.offset) scope = std::max(scope, scope_of(offset));
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
  if (type.shape.size() == 1) return type;
  if (type.shape.size() != 2) {
    return tasks::fail_task(
        "M09", where,
        fmt::format("'{}' has {} dimensions; TMA descriptors of 2 are made, and "
                    "pointers to 1",
                    argument.name, type.shape.size()));
  }
  if (swizzle_of(type) != 0) return type;
  return tasks::fail_task("M09", where,
                          fmt::format("rows of {} {} of '{}' are not copied by TMA",
                                      type.shape.back(), name_of(type.scalar), argument.name),
                          "a row has 32 or 64 bytes, or from 128 on a multiple of 16");
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

/// One pointer for each element of a vector; `mask`: those that the tensor has.
std::string Lowering::pointers(const Place& place, const TileType& type, std::size_t scope,
                               std::string& mask, const Where& where) {
  const tasks::Argument& argument = tree_.root.task->arguments[place.argument];
  const std::string scalar(name_of(type.scalar));
  const std::string base = parameter(place.argument, "!tt.ptr<" + scalar + ">");
  const std::int64_t length = type.shape[0];
  const std::string integers = tensor_text(type, "i32");
  const std::string addresses = tensor_text(type, fmt::format("!tt.ptr<{}>", scalar));
  ModuleText& text = state_.text;
  const std::string range = text.once(
      0, "r",
      fmt::format("tt.make_range {{end = {} : i32, start = 0 : i32}} : {}", length, integers),
      where);
  const std::string first = integer(place.offset[0], where);
  const std::string splat =
      text.once(scope, "s", fmt::format("tt.splat {} : i32 -> {}", first, integers), where);
  const std::string index =
      text.once(scope, "x", fmt::format("arith.addi {}, {} : {}", splat, range, integers), where);
  const Size end = substituted(argument.shape[0], fixed_sizes());
  const std::string limit = text.once(
      0, "e", fmt::format("tt.splat {} : i32 -> {}", integer(end, where), integers), where);
  mask = text.once(scope, "in", fmt::format("arith.cmpi slt, {}, {} : {}", index, limit, integers),
                   where);
  const std::string bases = text.once(
      0, "b", fmt::format("tt.splat {} : !tt.ptr<{}> -> {}", base, scalar, addresses), where);
  return text.once(scope, "p",
                   fmt::format("tt.addptr {}, {} : {}, {}", bases, index, addresses, integers),
                   where);
}

Result<Loaded> Lowering::load(const Place& place, const std::string& name, const Where& where) {
  TWILL_TRY(TileType type, type_of(place, where));
  const bool constant =
      tree_.root.task->arguments[place.argument].privilege == tasks::Privilege::reads;
  const std::size_t scope = constant ? scope_of(place) : state_.text.innermost();
  if (type.shape.size() == 1) {
    std::string mask;
    const std::string from = pointers(place, type, scope, mask, where);
    const std::string zero =
        state_.text.once(0, "zero",
                         fmt::format("arith.constant dense<{}> : {}", number_text(0, type.scalar),
                                     tensor_text(type)),
                         where);
    const std::string what =
        fmt::format("tt.load {}, {}, {} : {}", from, mask, zero,
                    tensor_text(type, fmt::format("!tt.ptr<{}>", name_of(type.scalar))));
    const std::string value = constant ? state_.text.once(scope, name, what, where)
                                       : state_.text.put(scope, name, what, where);
    return Loaded{value, std::move(type)};
  }
  type.layout = state_.text.layouts().loaded(type.shape, bytes_of(type.scalar));
  state_.text.use_layout(swizzle_of(type), false, 8 * bytes_of(type.scalar));
  const std::string descriptor = parameter(place.argument, descriptor_text(type));
  const std::string what = fmt::format("tt.descriptor_load {}[{}] : {} -> {}", descriptor,
                                       fmt::join(coordinates(place, where), ", "),
                                       descriptor_text(type), tensor_text(type));
  const std::string value = constant ? state_.text.once(scope, name, what, where)
                                     : state_.text.put(scope, name, what, where);
  return Loaded{value, std::move(type)};
}

Result<std::string> Lowering::load_shared(const Place& place, const std::string& name,
                                          const Where& where) {
  TWILL_TRY(const Loaded loaded, load(place, name, where));
  const auto& [tile, type] = loaded;
  const bool constant =
      tree_.root.task->arguments[place.argument].privilege == tasks::Privilege::reads;
  const std::size_t scope = constant ? scope_of(place) : state_.text.innermost();
  const std::string what = fmt::format("ttg.local_alloc {} : ({}) -> {}", tile, tensor_text(type),
                                       buffer_text(type, swizzle_of(type), false));
  return state_.text.once(scope, name + "s", what, where);
}

Result<void> Lowering::store(const Place& place, const std::string& tile, const Where& where) {
  TWILL_TRY(const TileType type, type_of(place, where));
  const std::size_t scope = state_.text.innermost();
  if (type.shape.size() == 1) {
    std::string mask;
    const std::string to = pointers(place, type, scope, mask, where);
    state_.text.line(scope,
                     fmt::format("tt.store {}, {}, {} : {}", to, tile, mask,
                                 tensor_text(type, fmt::format("!tt.ptr<{}>", name_of(type.scalar)))),
                     where);
    return {};
  }
  state_.text.use_layout(swizzle_of(type), false, 8 * bytes_of(type.scalar));
  const std::string descriptor = parameter(place.argument, descriptor_text(type));
  state_.text.line(scope,
                   fmt::format("tt.descriptor_store {}[{}], {} : {}, {}", descriptor,
                               fmt::join(coordinates(place, where), ", "), tile,
                               descriptor_text(type), tensor_text(type)),
                   where);
  return {};
}

/// Arguments in the order of the entry's: a descriptor with sizes and strides as Triton passes
/// them, or a pointer; sizes that are needed by themselves come last.
Result<std::string> Lowering::argument_text() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t a = 0; a < tree_.root.task->arguments.size(); ++a) {
    for (const Parameter& it : state_.parameters) {
      if (it.argument != a) continue;
      all.emplace_back(it.name, it.type);
      if (it.type.starts_with("!tt.ptr")) continue;
      for (const char* size : {"_rows", "_columns"}) all.emplace_back(it.name + size, "i32");
      for (const char* stride : {"_stride0", "_stride1"}) all.emplace_back(it.name + stride, "i64");
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
