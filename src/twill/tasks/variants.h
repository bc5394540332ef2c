#pragma once

#include <string>
#include <vector>

#include "twill/tasks/values.h"

/// Variants beside what their tasks mean, so that no mapping can change a result.
namespace twill::tasks {

/// A variant, and the last of its task, which says what the task means.
struct ComparedVariant {
  std::string variant;  ///< "gemm.host"
  std::string with;     ///< "gemm.block"; empty: it is the last
  std::string sizes;    ///< of the last run: "M = 3, N = 5, U = 2"
  int runs = 0;         ///< in which they agree; 0: sizes were not found with which both run
};

/// Runs all variants, except functions of one's own, on random numbers, and compares what they
/// leave. Sizes and tunables are drawn from a fixed seed. Fails (T16) for a variant that leaves
/// other numbers than roundings explain, and as `run` for one that does what it may not.
/// Precondition: check(library).
Result<std::vector<ComparedVariant>> compare_variants(const Library& library);

/// A line for each.
std::string to_string(const std::vector<ComparedVariant>& compared);

}  // namespace twill::tasks
