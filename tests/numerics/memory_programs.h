#pragma once

#include <random>
#include <string>

namespace twill::driver::testing {

/// A Hopper kernel whose loop has products, stores, loads and atomic additions in any order. Their
/// places in two arrays meet, move on or lie apart; seldom a barrier.
std::string random_memory_program(std::mt19937& random);

}  // namespace twill::driver::testing
