#pragma once

#include <cstdint>

namespace twill::execute {

/// Element of an array: the target of a Program's pointer. Tiles hold packed pointers.
struct Pointer {
  std::int64_t array = 0;
  std::int64_t index = 0;
};
std::int64_t packed(Pointer pointer);
Pointer unpacked(std::int64_t bits);

}  // namespace twill::execute
