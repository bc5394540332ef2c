#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "twill/run/reference.h"

namespace twill::run {

/// Choices of the user for the arguments; all others are drawn.
struct FixedArguments {
  execute::Launch launch;                           ///< `arguments` and `arrays`; `scale`
  std::optional<std::int64_t> size;                 ///< value of the integers that drive no loop
  std::optional<std::array<std::int64_t, 3>> grid;  ///< number of program ids
};

/// Arguments that make the main loop as short as wanted, and the results of the kernel's text.
struct Chosen {
  execute::Launch launch;             ///< with every integer argument, and the grid
  std::optional<std::int64_t> trips;  ///< the largest of all CTAs; empty: no CTA reaches the loop
  std::unique_ptr<Reference> reference;
};

/// Chooses arguments that are not given. The integers that drive the main loop are such that some
/// CTA makes `trips` iterations, or a few more where that is impossible. The other integers, the
/// grid, and the sizes and strides of tensors behind descriptors make several tiles with ragged
/// edges. The choice depends on `seed` and `trips` only. The kernel's results never depend on the
/// order of its CTAs: no element is written twice with different values.
///
/// Empty if no tried arguments satisfy these conditions. Fails if the text cannot be executed.
/// Cost: some runs of the text.
Result<std::optional<Chosen>> choose(const Kernel& kernel, const FixedArguments& given,
                                     std::int64_t trips, std::uint64_t seed);

}  // namespace twill::run
