#include "twill/tasks/mapping.h"

#include <algorithm>
#include <array>

namespace twill::tasks {
namespace {

constexpr std::array<std::string_view, 5> kProcessors = {"host", "block", "warpgroup", "warp",
                                                         "thread"};
constexpr std::array<std::string_view, 4> kMemories = {"none", "global", "shared", "register"};

template <class Enum, class Names>
std::optional<Enum> enumerator_named(const Names& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(Processor processor) {
  return kProcessors[static_cast<std::size_t>(processor)];
}
std::optional<Processor> processor_named(std::string_view name) {
  return enumerator_named<Processor>(kProcessors, name);
}

std::string_view name_of(Memory memory) { return kMemories[static_cast<std::size_t>(memory)]; }
std::optional<Memory> memory_named(std::string_view name) {
  return enumerator_named<Memory>(kMemories, name);
}

}  // namespace twill::tasks
