#pragma once

#include <random>
#include <string>

namespace twill::tests {

/// A Hopper kernel whose loop has products, stores, loads and atomic operations in any order. Their
/// places in arrays meet, move on or lie apart, by pointers and by a descriptor. Seldom there is a
/// barrier, and a tile is moved in front of the loop or behind it.
std::string random_memory_program(std::mt19937& random);

}  // namespace twill::tests
