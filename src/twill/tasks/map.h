#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/tasks/mapping.h"
#include "twill/tasks/site.h"

/// Mappings written in C++.
namespace twill::tasks::cpp {

class Task;

/// A mapping, line by line: `map("fast", gemm, "h200").set("U", 128).instance("host", gemm,
/// "host")`. Statements after an instance concern that instance.
class Map {
 public:
  Map(std::string name, const Task& task, std::string machine, Site site = Site::current());
  Map& set(std::string tunable, std::int64_t value, Site site = Site::current());
  /// Adds a hole, for which one of these values is chosen.
  Map& set(std::string tunable, std::vector<std::int64_t> values, Site site = Site::current());
  Map& instance(std::string name, const Task& task, std::string variant,
                Site site = Site::current());
  Map& entry(std::string name, const Task& task, std::string variant, Site site = Site::current());
  Map& at(Processor processor, Site site = Site::current());
  Map& memory(std::string argument, Memory memory, Site site = Site::current());
  /// Sets the layout of the argument whose memory was stated last: 128, 64 or 32 bytes.
  Map& swizzle(int bytes, Site site = Site::current());
  Map& calls(std::vector<std::string> instances, Site site = Site::current());
  /// Sets the copies of loads that run ahead: of all loops, or after an instance, of its loops.
  Map& depth(std::int64_t copies, Site site = Site::current());
  Map& depth(std::vector<std::int64_t> copies, Site site = Site::current());
  Map& specialize(bool wanted = true, Site site = Site::current());
  /// Limits the bytes of shared memory that a CTA takes.
  Map& limit_shared(std::int64_t bytes, Site site = Site::current());
  const Mapping& value() const { return mapping_; }

 private:
  Restrictions& restrictions();
  /// The last instance; null, with a recorded place, if a statement of an instance stands before
  /// all instances.
  Instance* instance_for(const char* statement, const Site& site);

  Mapping mapping_;
};

}  // namespace twill::tasks::cpp
