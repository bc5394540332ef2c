#include "twill/machine/read_processors.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace twill::machine {
namespace {

/// Levels of code, the outermost first, and memories: words that mappings have.
constexpr std::array<std::string_view, 5> kLevels = {"host", "block", "warpgroup", "warp",
                                                     "thread"};
constexpr std::array<std::string_view, 4> kMemories = {"global", "shared", "tensor", "register"};

Result<std::vector<std::string>> read_seen(const JsonNode& list) {
  TWILL_TRY(const auto nodes, list.items());
  std::vector<std::string> seen;
  for (const JsonNode& node : nodes) {
    TWILL_TRY(const std::size_t index, node.one_of(kMemories));
    const std::string_view name = kMemories[index];
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return node.wrong(fmt::format("'{}' occurs twice", name));
    }
    seen.emplace_back(name);
  }
  return seen;
}

}  // namespace

Result<std::vector<Processor>> read_processors(const JsonNode& root) {
  TWILL_TRY(const JsonNode list, root.at("processors"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Processor> processors;
  std::size_t first = 0;  // index of the first level that may follow
  for (const JsonNode& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "sees"}));
    TWILL_TRY(const JsonNode name, node.at("name"));
    TWILL_TRY(const std::size_t level, name.one_of(kLevels));
    if (level < first) return name.wrong("levels stand in order, the outermost first");
    first = level + 1;
    TWILL_TRY(const JsonNode sees, node.at("sees"));
    Processor& added = processors.emplace_back();
    added.name = kLevels[level];
    TWILL_TRY(added.sees, read_seen(sees));
  }
  return processors;
}

}  // namespace twill::machine
