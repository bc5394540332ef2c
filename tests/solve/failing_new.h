#pragma once

#include <cstdint>

namespace twill::solve_test {

/// Allocations until the one that fails; negative: none does. A program that has this in it has
/// another operator new. One thread only.
extern std::int64_t allocations_left;

}  // namespace twill::solve_test
