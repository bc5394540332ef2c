#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "twill/plan/plan.h"

/// Runs a plan in every possible order, on barriers that count and buffers that remember their
/// writers. The explorer knows no happens-before relation: the proof is checked against it.
namespace twill::plan::testing {

struct Exploration {
  enum class End { fine, stuck, wrong, too_large };
  End end = End::fine;
  std::string what;  ///< for stuck and wrong: a description
  std::size_t states = 0;
};

/// Explores all interleavings of all warps and all asynchronous work for `trips` trips.
/// Precondition: the plan is well-formed (`prove` finds no such fault). Both CTAs of a cluster run,
/// and leave together if the plan says so. Other steps outside the loop are not run.
Exploration explore(const Plan& plan, std::int64_t trips, std::size_t most_states);

}  // namespace twill::plan::testing
