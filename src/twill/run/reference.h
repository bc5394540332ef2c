#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "twill/execute/accesses.h"
#include "twill/execute/interpreter.h"
#include "twill/run/kernel.h"

namespace twill::run {

/// Runs the kernel's text: every CTA of the grid, one after the other. Arrays are numbered in the
/// order of the parameters that are pointers or descriptors.
struct Reference {
  explicit Reference(std::uint64_t seed) : memory(seed) { memory.report_to(&accesses); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  execute::Memory memory;
  execute::Accesses accesses;
};

/// Executes the kernel's text for a launch. Ends early, with the conflict, if the order of the CTAs
/// matters. Fails, at the op's line, for ops that cannot be executed, and if the arguments do not
/// fit. Cost: the kernel's arithmetic on one core, and some 50 ns for each element that is moved.
Result<std::unique_ptr<Reference>> refer(const Kernel& kernel, const execute::Launch& launch,
                                         std::uint64_t seed);

/// Checks the arguments. Fails if the function has no argument of a given name, or has another type
/// for the argument.
Result<void> check_arguments(const Kernel& kernel, const execute::Launch& launch);

/// The largest trip count of the main loop over all CTAs, in the first run of the loop in each CTA.
/// Empty: no CTA reaches the loop. Fails as `refer` does.
/// Cost: the ops before the loop.
Result<std::optional<std::int64_t>> most_trips(const Kernel& kernel, const execute::Launch& launch,
                                               std::uint64_t seed);

}  // namespace twill::run
