#include "twill/emit/cuda/maps.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/shared_tiles.h"
#include "twill/emit/cuda/text.h"

namespace twill::emit::cuda {

namespace {
constexpr std::int64_t kMostBoxRows = 256;
}

std::optional<std::size_t> Maps::argument_of(const View& view, const Map& map) {
  const auto arguments = ir::function_arguments(view.program(), view.function());
  const auto found = std::find(arguments.begin(), arguments.end(), map.descriptor);
  if (found == arguments.end()) return std::nullopt;
  return static_cast<std::size_t>(found - arguments.begin());
}

std::string Maps::name_of(const View& view, const Map& map) {
  const char* use = map.use == MapUse::writes ? "_out" : "";
  if (const auto argument = argument_of(view, map)) {
    return fmt::format("map{}_{}{}", *argument, map.rows, use);
  }
  const std::string& name = view.program().value(map.descriptor).name;
  return fmt::format("{}_{}{}", identifier("made_" + name), map.rows, use);
}

std::string Maps::words_of(const View& view, const Map& map) {
  if (const auto argument = argument_of(view, map)) return fmt::format("argument {}", *argument);
  return view.words(*view.program().value(map.descriptor).op);
}

Result<std::string> Maps::name(const View& view, ir::ValueId descriptor, std::int64_t rows,
                               MapUse use) {
  const Map map{descriptor, rows, use};
  const ir::Op* op = ir::defining_op(view.program(), descriptor);
  const bool made = op != nullptr && op->kind == ir::OpKind::make_descriptor;
  if (!made && !argument_of(view, map)) {
    return view.refuse(
        descriptor,
        "is a descriptor that is neither an argument of the kernel nor made by the kernel");
  }
  const ir::Type type = ir::type_of(view.program(), descriptor);
  const bool writes = use == MapUse::writes;
  if (!(writes ? written_swizzle_of(type) : swizzle_of(type))) {
    return view.refuse(descriptor, why_no_swizzle(type));
  }
  if (rows > kMostBoxRows) return view.refuse(descriptor, "has blocks of more than 256 rows");
  if (std::find(maps_.begin(), maps_.end(), map) == maps_.end()) maps_.push_back(map);
  return name_of(view, map);
}

std::vector<Maps::Map> Maps::all() const {
  std::vector<Map> sorted = maps_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace twill::emit::cuda
