#include "twill/frontend/ttgir/possible.h"

#include <algorithm>
#include <numeric>

#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

using Wrong = std::optional<std::string>;

constexpr std::int64_t kThreads = 32;    ///< threads of a warp
constexpr std::int64_t kMostWarps = 32;  ///< warps of a CTA: 1024 threads
constexpr std::int64_t kMany = 1 << 20;  ///< limit for products of extents

bool is_power_of_two(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + "]";
}

/// Checks the extents by which a tile is distributed: powers of two, with the given product.
Wrong dealt(const std::string& key, const std::vector<std::int64_t>& extents,
            std::optional<std::int64_t> all) {
  if (!std::all_of(extents.begin(), extents.end(), is_power_of_two)) {
    return "'" + key + "' is " + list_of(extents) + ", but powers of two are wanted";
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product = std::min(product * extent, kMany);
  if (!all || product == *all) return {};
  return "'" + key + "' is " + list_of(extents) + ", but a warp has " + std::to_string(*all) +
         " threads";
}

Wrong permutation(const std::string& key, std::vector<std::int64_t> order) {
  const std::string text = list_of(order);
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> wanted(order.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  if (order == wanted) return {};
  return "'" + key + "' is " + text + ", which is no order of " + std::to_string(order.size()) +
         " dimensions";
}

Wrong one_of(const std::string& key, std::int64_t number, std::vector<std::int64_t> possible) {
  if (std::find(possible.begin(), possible.end(), number) != possible.end()) return {};
  return "'" + key + "' is " + std::to_string(number) + ", which is none of " + list_of(possible);
}

Wrong entry(const std::string& key, ir::Attribute value) {
  const auto list = integers_of(value);
  if (key == "threadsPerWarp" && list) return dealt(key, *list, kThreads);
  if ((key == "sizePerThread" || key == "warpsPerCTA" || key == "CTAsPerCGA" ||
       key == "CTASplitNum") &&
      list) {
    return dealt(key, *list, std::nullopt);
  }
  if ((key == "order" || key == "CTAOrder") && list) return permutation(key, *list);
  if (key == "transposed" || key == "isTransposed" || key == "fp4Padded") {
    if (value->kind == ir::AttributeKind::boolean) return {};
    return "'" + key + "' is " + value->text + ", but true or false is wanted";
  }
  if (value->kind != ir::AttributeKind::integer) return {};
  if (key == "swizzlingByteWidth") return one_of(key, value->integer, {0, 32, 64, 128});
  if (key == "opIdx") return one_of(key, value->integer, {0, 1});
  if (key == "elementBitWidth") return one_of(key, value->integer, {4, 8, 16, 32, 64});
  if (key == "blockM") return one_of(key, value->integer, {64, 128});
  if (key == "vec" || key == "perPhase" || key == "maxPhase" || key == "blockN") {
    if (!is_power_of_two(value->integer)) {
      return "'" + key + "' is " + std::to_string(value->integer) +
             ", but a power of two is wanted";
    }
  }
  return {};
}

/// Number of dimensions of a register layout; -1: its lists disagree. nullopt: not stated.
std::optional<std::int64_t> rank_of(ir::Attribute layout) {
  if (const ir::Attribute parent = layout->entry("parent")) {
    const auto rank = rank_of(parent);
    const bool slice = layout->entry("dim") != nullptr;
    return rank && slice && *rank > 0 ? *rank - 1 : rank;
  }
  std::optional<std::int64_t> rank;
  for (const char* key : {"sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"}) {
    const ir::Attribute list = layout->entry(key);
    const auto extents = list != nullptr ? integers_of(list) : std::nullopt;
    if (!extents) continue;
    if (rank && *rank != std::ssize(*extents)) return -1;
    rank = std::ssize(*extents);
  }
  return rank;
}

/// Checks layouts of mma.sync and wgmma, as far as their instructions agree for all types.
Wrong product(ir::Attribute layout) {
  const ir::Attribute version = layout->entry("versionMajor");
  const ir::Attribute shape = layout->entry("instrShape");
  if (version == nullptr || shape == nullptr) return {};
  constexpr std::int64_t kSync = 2, kGroup = 3;
  if (auto wrong = one_of("versionMajor", version->integer, {kSync, kGroup})) return wrong;
  const auto extents = integers_of(shape);
  if (version->integer == kSync || !extents) return {};
  const bool fits = extents->size() == 3 && (*extents)[0] == 16 && (*extents)[1] >= 8 &&
                    (*extents)[1] <= 256 && (*extents)[1] % 8 == 0 &&
                    is_power_of_two((*extents)[2]) && (*extents)[2] >= 8 && (*extents)[2] <= 64;
  if (fits) return {};
  return "'instrShape' is " + list_of(*extents) +
         ", but a wgmma has 16 rows for each warp, 8, 16 ... 256 columns, and a depth of 32 bytes";
}

/// Checks linear layouts: each bit of a number maps to at most one bit of a position, and every bit
/// of a position is reached.
Wrong linear(ir::Attribute layout) {
  std::vector<std::int64_t> bits;  // for each dimension: bits of positions that some basis has
  for (const char* key : {"register", "lane", "warp", "block"}) {
    const ir::Attribute bases = layout->entry(key);
    for (const ir::Attribute basis :
         bases != nullptr ? bases->elements : decltype(bases->elements){}) {
      const auto numbers = integers_of(basis);
      if (!numbers) continue;
      bits.resize(std::max(bits.size(), numbers->size()), 0);
      const bool none = std::ranges::all_of(*numbers, [](std::int64_t it) { return it == 0; });
      const auto at = std::ranges::find_if(*numbers, [](std::int64_t it) { return it != 0; });
      const auto more =
          none ? at : std::find_if(at + 1, numbers->end(), [](auto it) { return it != 0; });
      const bool one = none || (more == numbers->end() && is_power_of_two(*at));
      std::int64_t& known = bits[none ? 0 : static_cast<std::size_t>(at - numbers->begin())];
      if (!one || (!none && (known & *at) != 0)) {
        return "'" + std::string(key) + "' has the basis " + list_of(*numbers) +
               ", but each is one bit of a position that no other has, or zeros";
      }
      if (!none) known |= *at;
    }
  }
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (is_power_of_two(bits[i] + 1)) continue;
    return "no basis brings all positions of dimension " + std::to_string(i);
  }
  return {};
}

bool is_of_registers(std::string_view name) {
  return name == "ttg.blocked" || name == "ttg.nvidia_mma" || name == "ttg.slice" ||
         name == "ttg.dot_op" || name == "ttg.linear";
}

bool is_of_memory(std::string_view name) {
  return name == "ttg.nvmma_shared" || name == "ttg.swizzled_shared" || name == "ttg.shared" ||
         name == "ttng.tensor_memory_encoding";
}

}  // namespace

std::optional<std::string> impossible_place(ir::Type type) {
  if (type->encoding == nullptr) return {};
  const std::string_view text = type->encoding->text;
  const std::string_view name =
      text.starts_with('#') ? text.substr(1, text.find('<') - 1) : std::string_view();
  if (type->kind == ir::TypeKind::memdesc && is_of_registers(name)) {
    return std::string(name) + " is a layout of registers, but the tile lies in memory";
  }
  const auto rank = is_of_registers(name) ? rank_of(type->encoding) : std::nullopt;
  if (rank && *rank < 0) return "its lists are not of equal length";
  if (rank && *rank != std::ssize(type->shape)) {
    return "it is of rank " + std::to_string(*rank) + ", and the tile has " +
           std::to_string(type->shape.size()) + " dimensions";
  }
  if (type->kind == ir::TypeKind::tensor && is_of_memory(name)) {
    return std::string(name) + " is a layout of memory, but the tile lies in registers";
  }
  return {};
}

std::optional<std::string> impossible_layout(ir::Attribute layout) {
  for (ir::Attribute at = layout; at != nullptr; at = at->entry("parent")) {
    if (auto wrong = product(at)) return wrong;
    if (auto wrong = linear(at)) return wrong;
    for (const auto& [key, value] : at->entries) {
      if (value == nullptr) continue;
      if (auto wrong = entry(key, value)) return wrong;
    }
  }
  return {};
}

std::optional<std::string> impossible_warps(ir::Attribute layout, std::int64_t warps) {
  for (ir::Attribute at = layout; at != nullptr; at = at->entry("parent")) {
    const ir::Attribute extents = at->entry("warpsPerCTA");
    const ir::Attribute bases = at->entry("warp");  // linear layouts: each basis doubles the warps
    const auto list = extents != nullptr ? integers_of(extents) : std::nullopt;
    std::int64_t count = 1;
    if (list) {
      for (const std::int64_t extent : *list) count = std::min(count * extent, kMany);
    } else if (bases != nullptr && bases->elements.size() < 10) {
      count <<= bases->elements.size();
    } else {
      continue;
    }
    if (count == warps) continue;
    return "it is of " + std::to_string(count) + (count == 1 ? " warp" : " warps") +
           ", and the op is run by " + std::to_string(warps);
  }
  return {};
}

std::optional<std::int64_t> warps_of(const ir::Program& program, ir::OpId op) {
  std::optional<ir::RegionId> inside;
  for (std::optional<ir::OpId> at = op; at; at = ir::parent(program, *at)) {
    const ir::Op& it = program.op(*at);
    for (const auto& [key, value] : it.attributes) {
      if (key.ends_with(".num-warps") && value->kind == ir::AttributeKind::integer) {
        return value->integer;
      }
    }
    const auto holder = ir::parent(program, *at);
    if (!holder) continue;
    const ir::Op& roles = program.op(*holder);
    const ir::RegionId region = program.block(it.block).region;
    const bool partitions = roles.kind == ir::OpKind::warp_roles && roles.regions.back() == region;
    for (std::size_t i = 0; partitions && i < std::min(it.regions.size(), roles.warps.size());
         ++i) {
      if (it.regions[i] == inside) return roles.warps[i];
    }
    inside = region;
  }
  return {};
}

bool is_slice_along(ir::Attribute vector, ir::Attribute tile, std::int64_t axis) {
  const ir::Attribute dimension = vector != nullptr ? vector->entry("dim") : nullptr;
  const ir::Attribute parent = vector != nullptr ? vector->entry("parent") : nullptr;
  if (dimension == nullptr || parent == nullptr || tile == nullptr) return true;
  return dimension->integer == axis && parent == tile;
}

std::optional<std::string> impossible_launch(const ir::Op& module) {
  for (const auto& [key, value] : module.attributes) {
    if (value->kind != ir::AttributeKind::integer) continue;
    const std::int64_t number = value->integer;
    const bool threads = key.ends_with(".threads-per-warp");
    if (threads && number != kThreads) {
      return "a warp has " + std::to_string(kThreads) + " threads, and '" + key + "' is " +
             std::to_string(number);
    }
    const bool warps = key.ends_with(".num-warps");
    const bool ctas = key.ends_with(".num-ctas");
    if ((warps || ctas) && (!is_power_of_two(number) || number > kMostWarps)) {
      return "'" + key + "' is " + std::to_string(number) + ", but " +
             (warps ? "a CTA has 1, 2, 4 ... 32 warps" : "a cluster has 1, 2, 4 ... CTAs");
    }
  }
  return {};
}

}  // namespace twill::frontend::ttgir
