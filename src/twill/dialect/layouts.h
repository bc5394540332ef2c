#pragma once

#include <string_view>
#include <vector>

#include "twill/ir/type.h"

namespace twill::dialect {

/// Meaning of a layout attribute, by its name (after any dialect's prefix: ttg, triton_gpu, ...)
/// and its entries; empty if hardware does not see it.
ir::Encoding layout_of(std::string_view name, const std::vector<ir::NamedAttribute>& entries);

/// The memory of a memdesc of that memory space.
ir::MemorySpace space_of(ir::Attribute memory_space);

}  // namespace twill::dialect
