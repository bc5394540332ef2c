#pragma once

#include <cstdint>
#include <optional>

#include "twill/ir/type.h"

/// Tensor maps for TMA that a kernel writes itself (`ttng.tensormap_create`).
namespace twill::dialect {

/// Number of an element type in a tensor map, as PTX numbers the types of `tensormap.replace
/// .elemtype` (PTX ISA, "tensormap.replace"). CUtensorMapDataType of the driver has other numbers
/// for f64 and bf16. A map with the driver's numbers ends the launch with an illegal instruction.
/// Empty for types that no map has.
std::optional<std::int64_t> map_type(ir::Type element);

}  // namespace twill::dialect
