#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "twill/extract/classify.h"

namespace twill::extract {

/// Price of PTX that computes `elements` elements of its result at a time, by instruction. MUFU,
/// float and integer instructions count by the kinds of the machine; moves are free. nullopt if an
/// instruction does more than compute on registers, or if a predicate or label controls execution.
std::optional<Elementwise> assembly(std::string_view text, std::int64_t elements);

}  // namespace twill::extract
