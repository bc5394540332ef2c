#pragma once

#include <cstdint>

namespace twill::solve_test {

/// Number of allocations before one fails; negative: none fails. A program with this file has
/// another operator new. One thread only.
extern std::int64_t allocations_left;

}  // namespace twill::solve_test
