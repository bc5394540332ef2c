#include "twill/emit/ttgir/maps.h"

#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace twill::emit::ttgir {

using device::NodeKind;

std::string map_words(const device::Node& node, const std::vector<std::string>& names,
                      const std::vector<std::string>& types, const std::string& result) {
  if (node.kind == NodeKind::scratch) {
    return fmt::format(
        "ttg.global_scratch_alloc {{alignment = 128 : i32, nbytes = {} : i32}} : {}",
        node.numbers[0], result);
  }
  if (node.kind == NodeKind::acquire_map) {
    return fmt::format("ttng.tensormap_fenceproxy_acquire {} : {}", names[0], types[0]);
  }
  if (node.kind == NodeKind::as_descriptor) {
    return fmt::format("ttng.reinterpret_tensor_descriptor {} : {} to {}", names[0], types[0],
                       result);
  }
  std::string lists;
  auto at = names.begin() + 2;
  const auto rank = static_cast<std::ptrdiff_t>(node.numbers[0]);
  for (const std::ptrdiff_t count : {rank, rank, rank - 1, rank}) {  // no stride of the innermost
    lists += fmt::format(", [{}]", fmt::join(at, at + count, ", "));
    at += count;
  }
  return fmt::format(
      "ttng.tensormap_create {}, {}{} {{elem_type = {} : i32, fill_mode = {} : i32, "
      "interleave_layout = 0 : i32, swizzle_mode = {} : i32}} : ({}) -> ()",
      names[0], names[1], lists, node.numbers[1], node.numbers[3], node.numbers[2],
      fmt::join(types, ", "));
}

}  // namespace twill::emit::ttgir
