#include "twill/tasks/map.h"

#include <utility>

#include "twill/tasks/tasks.h"

namespace twill::tasks::cpp {

Map::Map(std::string name, const Task& task, std::string machine, Site site) {
  mapping_.name = std::move(name);
  mapping_.task = task.value().name;
  mapping_.machine = std::move(machine);
  mapping_.where = where_of(site);
}

Map& Map::set(std::string tunable, std::int64_t value, Site site) {
  return set(std::move(tunable), std::vector<std::int64_t>{value}, site);
}

Map& Map::set(std::string tunable, std::vector<std::int64_t> values, Site site) {
  auto& settings =
      mapping_.instances.empty() ? mapping_.tunables : mapping_.instances.back().tunables;
  settings.push_back({std::move(tunable), std::move(values), where_of(site)});
  return *this;
}

Map& Map::instance(std::string name, const Task& task, std::string variant, Site site) {
  Instance made;
  made.name = std::move(name);
  made.task = task.value().name;
  made.variant = std::move(variant);
  made.where = where_of(site);
  mapping_.instances.push_back(std::move(made));
  return *this;
}

Map& Map::entry(std::string name, const Task& task, std::string variant, Site site) {
  instance(std::move(name), task, std::move(variant), site);
  mapping_.instances.back().entry = true;
  return *this;
}

Instance* Map::instance_for(const char* statement, const Site& site) {
  if (!mapping_.instances.empty()) return &mapping_.instances.back();
  if (!mapping_.misplaced) mapping_.misplaced = Misplaced{statement, where_of(site)};
  return nullptr;
}

Map& Map::at(Processor processor, Site site) {
  if (Instance* const it = instance_for("at", site)) it->processor = processor;
  return *this;
}

Map& Map::memory(std::string argument, Memory memory, Site site) {
  if (Instance* const it = instance_for("memory", site)) {
    it->memories.push_back({std::move(argument), memory, where_of(site)});
  }
  return *this;
}

Map& Map::swizzle(int bytes, Site site) {
  Instance* const it = instance_for("swizzle", site);
  if (it == nullptr) return *this;
  if (it->memories.empty()) {
    if (!mapping_.misplaced) mapping_.misplaced = Misplaced{"swizzle", where_of(site)};
    return *this;
  }
  it->memories.back().swizzle = Swizzle{bytes, where_of(site)};
  return *this;
}

Map& Map::calls(std::vector<std::string> instances, Site site) {
  if (Instance* const it = instance_for("calls", site)) it->calls = std::move(instances);
  return *this;
}

Restrictions& Map::restrictions() {
  return mapping_.instances.empty() ? mapping_.restrictions
                                    : mapping_.instances.back().restrictions;
}

Map& Map::depth(std::int64_t copies, Site site) {
  return depth(std::vector<std::int64_t>{copies}, site);
}

Map& Map::depth(std::vector<std::int64_t> copies, Site site) {
  restrictions().depth = Setting{std::string(kDepth), std::move(copies), where_of(site)};
  return *this;
}

Map& Map::specialize(bool wanted, Site site) {
  restrictions().specialize = Specialize{wanted, where_of(site)};
  return *this;
}

Map& Map::limit_shared(std::int64_t bytes, Site site) {
  mapping_.shared = SharedLimit{bytes, where_of(site)};
  return *this;
}

}  // namespace twill::tasks::cpp
