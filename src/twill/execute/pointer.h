#pragma once

#include <cstdint>

namespace twill::execute {

/// An element of an array: what a pointer of the Program points to. Tiles hold it packed.
struct Pointer {
  std::int64_t array = 0;
  std::int64_t index = 0;
};
std::int64_t packed(Pointer pointer);
Pointer unpacked(std::int64_t bits);

}  // namespace twill::execute
