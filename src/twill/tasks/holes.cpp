#include "twill/tasks/holes.h"

#include <utility>

#include "twill/support/check.h"
#include "twill/tasks/instantiate.h"

namespace twill::tasks {
namespace {

/// Visits settings without a single value, with their full name: the instance's name, a dot, and
/// the setting's name.
template <class Visit>
void for_each_hole(Mapping& mapping, Visit visit) {
  const auto look = [&](Setting& setting, const std::string& of, bool may_stay_open) {
    const bool is_open = setting.values.empty();
    if (setting.values.size() == 1 || (is_open && may_stay_open)) return;
    visit(setting, of + setting.tunable);
  };
  for (Setting& it : mapping.tunables) look(it, "", false);
  if (mapping.restrictions.depth) look(*mapping.restrictions.depth, "", true);
  for (Instance& instance : mapping.instances) {
    const std::string of = instance.name + ".";
    for (Setting& it : instance.tunables) look(it, of, false);
    if (instance.restrictions.depth) look(*instance.restrictions.depth, of, true);
  }
}

/// Tile sizes for which instructions exist.
std::vector<std::int64_t> any_size() {
  std::vector<std::int64_t> values;
  for (std::int64_t size = 8; size <= 256; size += 8) values.push_back(size);
  return values;
}

}  // namespace

std::vector<Hole> holes_of(const Mapping& mapping) {
  Mapping copy = mapping;
  std::vector<Hole> holes;
  for_each_hole(copy, [&](const Setting& setting, std::string name) {
    holes.push_back(
        {std::move(name), setting.values.empty() ? any_size() : setting.values, setting.where});
  });
  return holes;
}

Result<Mapping> opened(const Library& library, Mapping mapping) {
  constexpr std::int64_t kLeast = 2, kMost = 256;
  std::vector<std::int64_t> any;
  for (const Hole& hole : holes_of(mapping)) any.push_back(hole.values.front());
  TWILL_TRY(const std::vector<std::string> names, unstated_tunables(library, filled(mapping, any)));
  Setting unstated{{}, {}, mapping.where};
  for (std::int64_t size = kLeast; size <= kMost; size *= 2) unstated.values.push_back(size);
  for (const std::string& name : names) {
    unstated.tunable = name;
    mapping.tunables.push_back(unstated);
  }
  return mapping;
}

Mapping filled(Mapping mapping, const std::vector<std::int64_t>& values) {
  std::size_t next = 0;
  for_each_hole(mapping, [&](Setting& setting, const std::string&) {
    TWILL_CHECK(next < values.size(), "a value for each hole");
    setting.values = {values[next++]};
  });
  TWILL_CHECK(next == values.size(), "a hole for each value");
  return mapping;
}

}  // namespace twill::tasks
