#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "twill/tasks/mapping.h"

/// Holes of a mapping, and mappings in which they are filled.
namespace twill::tasks {

/// A tunable or depth with several values to choose from.
struct Hole {
  std::string name;  ///< "W", or of an instance "block.W"
  std::vector<std::int64_t> values;
  Where where;
};

/// Most choices that the holes of a mapping may have together.
inline constexpr std::size_t kMostChoices = 4096;

/// In the order of the text. A tunable that is open (`?`) may have any of 8 to 256 by 8; a depth
/// that is open is no hole, since the plan chooses it.
std::vector<Hole> holes_of(const Mapping& mapping);

/// The mapping with each tunable of its tree that it does not state as a hole, whose values are the
/// powers of two from 2 to 256. Fails as `instantiate` does. Precondition: check(library).
Result<Mapping> opened(const Library& library, Mapping mapping);

/// The mapping with a value for each of its holes. Precondition: as many values as holes.
Mapping filled(Mapping mapping, const std::vector<std::int64_t>& values);

}  // namespace twill::tasks
