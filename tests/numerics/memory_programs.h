#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>

#include "twill/support/diagnostic.h"

namespace twill::tests {

/// Draws a Hopper kernel whose loop has products, stores, loads and atomic operations in any order.
/// Their places in arrays meet, move on or lie apart, by pointers and by a descriptor. Seldom there
/// is a barrier, and a tile is moved before or after the loop.
std::string random_memory_program(std::mt19937& random);

/// Programs that were refused, by the reason. Numbers and names of values are left out of reasons,
/// so that equal reasons are counted together.
class Refusals {
 public:
  /// Counts a program; no reason means that there is no schedule.
  void add(const std::optional<Diagnostic>& why);
  int count() const;
  /// Prints one line "refused N: REASON" for each, the frequent ones first.
  std::string to_text() const;

 private:
  std::map<std::string, int> counts_;
};

}  // namespace twill::tests
