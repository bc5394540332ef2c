#include "twill/emit/cuda/maps.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/shared_tiles.h"

namespace twill::emit::cuda {

namespace {
constexpr std::int64_t kMostBoxRows = 256;
}

std::string Maps::name_of(const Map& map) {
  return fmt::format("map{}_{}", map.argument, map.rows);
}

Result<std::string> Maps::name(const View& view, ir::ValueId descriptor, std::int64_t rows) {
  const auto arguments = ir::function_arguments(view.program(), view.function());
  const auto found = std::find(arguments.begin(), arguments.end(), descriptor);
  if (found == arguments.end()) {
    return view.refuse(descriptor, "is a descriptor that is no argument of the kernel");
  }
  if (!swizzle_of(ir::type_of(view.program(), descriptor))) {
    return view.refuse(descriptor, "describes blocks that are not swizzled, or not of 16 bits");
  }
  if (rows > kMostBoxRows) return view.refuse(descriptor, "has blocks of more than 256 rows");
  const std::pair<std::size_t, std::int64_t> map{
      static_cast<std::size_t>(found - arguments.begin()), rows};
  if (std::find(maps_.begin(), maps_.end(), map) == maps_.end()) maps_.push_back(map);
  return name_of({map.first, map.second});
}

std::vector<Maps::Map> Maps::all() const {
  std::vector<std::pair<std::size_t, std::int64_t>> sorted = maps_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<Map> all;
  for (const auto& [argument, rows] : sorted) all.push_back({argument, rows});
  return all;
}

}  // namespace twill::emit::cuda
