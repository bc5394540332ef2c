#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/tasks/values.h"

/// Mappings as plain values: places where tasks run and tensors lie. Missing choices are derived
/// (instantiate.h).
namespace twill::tasks {

/// Levels of a machine, the outermost first.
enum class Processor { host, block, warpgroup, warp, thread };
std::string_view name_of(Processor processor);
std::optional<Processor> processor_named(std::string_view name);

enum class Memory {
  none,  ///< no memory: its users' tensors receive the elements
  global,
  shared,
  registers,
};
std::string_view name_of(Memory memory);
std::optional<Memory> memory_named(std::string_view name);

/// A tunable and its value. Several values are a hole, from which one is chosen. No value means any
/// value.
struct Setting {
  std::string tunable;
  std::vector<std::int64_t> values;
  Where where;
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Whether the warps of a kernel have roles of their own.
struct Specialize {
  bool wanted = true;
  Where where;
  friend bool operator==(const Specialize&, const Specialize&) = default;
};

/// Restrictions of the schedule, which decides everything else.
struct Restrictions {
  std::optional<Setting> depth;  ///< copies of loads that run ahead, by the tunable kDepth
  std::optional<Specialize> specialize;
  friend bool operator==(const Restrictions&, const Restrictions&) = default;
};

/// Words with a meaning in mappings, which no tunable may have as its name.
inline constexpr std::string_view kDepth = "depth";
inline constexpr std::string_view kSpecialize = "specialize";
inline constexpr std::string_view kLimit = "limit";

/// Most bytes of shared memory that a CTA takes.
struct SharedLimit {
  std::int64_t bytes = 0;
  Where where;
  friend bool operator==(const SharedLimit&, const SharedLimit&) = default;
};

/// Layout of a tile in shared memory: within this number of bytes of a row, 16-byte units are
/// permuted. 128, 64 or 32.
struct Swizzle {
  int bytes = 0;
  Where where;
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};
inline constexpr std::string_view kSwizzle = "swizzle";

/// Memory of an argument, and for a product's operand also its layout in that memory.
struct Placed {
  std::string argument;
  Memory memory = Memory::none;
  Where where;
  std::optional<Swizzle> swizzle = {};
  friend bool operator==(const Placed&, const Placed&) = default;
};

/// A variant at a place of the machine.
struct Instance {
  bool entry = false;
  std::string name;
  std::string task;
  std::string variant;
  std::optional<Processor> processor;
  std::vector<Setting> tunables;
  std::vector<Placed> memories;
  Restrictions restrictions;       ///< for the variant's own loops, or for the kernel
  std::vector<std::string> calls;  ///< instances, one for each launch of the variant; or empty
  Where where;
  friend bool operator==(const Instance&, const Instance&) = default;
};

/// A statement about an instance, in C++, that stands before what it is about.
struct Misplaced {
  std::string statement;
  Where where;
  friend bool operator==(const Misplaced&, const Misplaced&) = default;
};

struct Mapping {
  std::string name;
  std::string task;               ///< task that the kernel carries out
  std::string machine;            ///< name as in `twill machines`; empty: any machine that fits
  std::vector<Setting> tunables;  ///< for every variant whose instance does not set them
  Restrictions restrictions;      ///< for every instance that does not state them
  std::optional<SharedLimit> shared;
  std::vector<Instance> instances;
  Where where;
  std::optional<Misplaced> misplaced = {};  ///< the first misplaced statement; text has none
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

}  // namespace twill::tasks
