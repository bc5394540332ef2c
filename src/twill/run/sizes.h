#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "twill/run/reference.h"

namespace twill::run {

/// Choices of the user for the arguments; all others are drawn.
struct Given {
  execute::Launch launch;                           ///< `arguments` and `arrays`; `scale`
  std::optional<std::int64_t> size;                 ///< of integers that drive no loop
  std::optional<std::array<std::int64_t, 3>> grid;  ///< of program ids
};

/// Arguments that make the main loop as short as wanted, and what the kernel's text does with them.
struct Chosen {
  execute::Launch launch;  ///< with every integer argument, and the grid
  std::optional<std::int64_t>
      trips;  ///< the most that a CTA makes; nothing: none comes to the loop
  std::unique_ptr<Reference> reference;
};

/// Chooses what is not given: the integers that drive the main loop such that some CTA makes
/// `trips` iterations, or, where there are no such, a few more; the other integers, the grid, and
/// the sizes and strides of tensors behind descriptors, so that there are several tiles with ragged
/// edges. What is chosen depends on `seed` and `trips` only. Never such that what the kernel does
/// depends on the order of its CTAs: no element is written twice with different values.
///
/// Nothing: there are no such arguments among those tried. Fails if the text cannot be executed.
/// Cost: some runs of the text.
Result<std::optional<Chosen>> choose(const Kernel& kernel, const Given& given, std::int64_t trips,
                                     std::uint64_t seed);

}  // namespace twill::run
