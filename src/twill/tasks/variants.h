#pragma once

#include <string>
#include <vector>

#include "twill/tasks/values.h"

/// Compares variants with the meaning of their tasks, so that no mapping can change a result.
namespace twill::tasks {

/// A variant, with the last variant of its task, which defines the task's meaning.
struct ComparedVariant {
  std::string variant;  ///< "gemm.host"
  std::string with;     ///< "gemm.block"; empty for the last variant itself
  std::string sizes;    ///< sizes of the last run: "M = 3, N = 5, U = 2"
  int runs = 0;         ///< runs with equal results; 0: no sizes were found with which both run
};

/// Runs all variants, except user functions, on random numbers, and compares their results. Sizes
/// and tunables are drawn from a fixed seed. Fails (T16) for a variant whose numbers differ by more
/// than rounding. Fails as `run` for a variant that breaks its privileges. Precondition:
/// check(library).
Result<std::vector<ComparedVariant>> compare_variants(const Library& library);

/// Prints a line for each comparison.
std::string to_string(const std::vector<ComparedVariant>& compared);

}  // namespace twill::tasks
