#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

std::string text_of(const Setting& setting) {
  const std::vector<std::int64_t>& values = setting.values;
  if (values.empty()) return setting.tunable + " = ?";
  const std::string list = fmt::format("{}", fmt::join(values, ", "));
  if (values.size() == 1) return setting.tunable + " = " + list;
  const std::int64_t step = values.size() < 3 ? 0 : values[1] - values[0];
  bool even = step > 0;
  for (std::size_t i = 1; i < values.size(); ++i) even = even && values[i] - values[i - 1] == step;
  if (!even) return setting.tunable + " = {" + list + "}";
  return fmt::format("{} = {}..{} by {}", setting.tunable, values.front(), values.back(), step);
}

/// Text of restrictions, each with `between` before it.
std::string text_of(const Restrictions& stated, const std::string& between) {
  std::string text;
  if (stated.depth) text += between + text_of(*stated.depth);
  if (stated.specialize) {
    text += between + std::string(kSpecialize) + (stated.specialize->wanted ? "" : " = no");
  }
  return text;
}

std::string text_of(const SharedLimit& limit) {
  const bool whole = limit.bytes % 1024 == 0;
  return fmt::format("{} shared = {}{}", kLimit, whole ? limit.bytes / 1024 : limit.bytes,
                     whole ? " KiB" : "");
}

std::string text_of(const Instance& instance) {
  std::string text = fmt::format("{}{}: {}.{}", instance.entry ? "entry " : "", instance.name,
                                 instance.task, instance.variant);
  if (instance.processor) text += fmt::format(" at {}", name_of(*instance.processor));
  for (const Setting& setting : instance.tunables) text += "  " + text_of(setting);
  for (const Placed& placed : instance.memories) {
    text += fmt::format("  {}: {}", placed.argument, name_of(placed.memory));
    if (placed.swizzle) text += fmt::format(" {} {}", kSwizzle, placed.swizzle->bytes);
  }
  text += text_of(instance.restrictions, "  ");
  if (instance.calls.empty()) return text;
  return text + fmt::format("  calls {}", fmt::join(instance.calls, ", "));
}

}  // namespace

std::string print_mapping(const Mapping& mapping) {
  const std::string machine = mapping.machine.empty() ? "" : " on " + mapping.machine;
  std::string text = fmt::format("map {} for {}{} {{\n", mapping.name, mapping.task, machine);
  for (const Setting& setting : mapping.tunables) text += "  " + text_of(setting) + "\n";
  const std::string between = "\n  ";
  const std::string stated = text_of(mapping.restrictions, between);
  if (!stated.empty()) text += stated.substr(1) + "\n";
  if (mapping.shared) text += "  " + text_of(*mapping.shared) + "\n";
  for (const Instance& instance : mapping.instances) text += "  " + text_of(instance) + "\n";
  return text + "}\n";
}

std::string print_mappings(const std::vector<Mapping>& mappings) {
  std::string out;
  for (const Mapping& mapping : mappings) out += (out.empty() ? "" : "\n") + print_mapping(mapping);
  return out;
}

}  // namespace twill::tasks
