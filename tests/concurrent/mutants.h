#pragma once

#include <string>
#include <vector>

namespace twill::tests {

/// A module with one bug planted.
struct Mutant {
  std::string kind;
  int line = 0;  ///< that was changed, from 1
  std::string text;
};

/// Every kind of bug at every line where it can be planted. Some mutants are no modules any more
/// (a name is used before it is defined): the reader refuses these.
std::vector<Mutant> mutants_of(const std::string& module);

}  // namespace twill::tests
