#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "twill/tasks/mapping.h"

/// Holes of a mapping, and mappings with filled holes.
namespace twill::tasks {

/// A tunable or depth with several possible values.
struct Hole {
  std::string name;  ///< "W", or "block.W" for an instance
  std::vector<std::int64_t> values;
  Where where;
};

/// Most combinations of values that the holes of a mapping may have.
inline constexpr std::size_t kMostChoices = 4096;

/// Holes in the order of the text. An open tunable (`?`) may have any multiple of 8 from 8 to 256.
/// An open depth is no hole, since the plan chooses it.
std::vector<Hole> holes_of(const Mapping& mapping);

/// Returns the mapping with a hole for each tunable of its tree that it leaves open. The values are
/// the powers of two from 2 to 256. Fails as `instantiate` does. Precondition: check(library).
Result<Mapping> opened(const Library& library, Mapping mapping);

/// Fills all holes of a mapping with values. Precondition: as many values as holes.
Mapping filled(Mapping mapping, const std::vector<std::int64_t>& values);

}  // namespace twill::tasks
