#pragma once

#include <string_view>
#include <vector>

#include "twill/ir/type.h"

namespace twill::dialect {

/// Meaning of a layout attribute, by its name (after any dialect's prefix: ttg, triton_gpu, ...)
/// and its entries. Empty for a layout that hardware does not see.
ir::Encoding layout_of(std::string_view name, const std::vector<ir::NamedAttribute>& entries);

/// Memory that a memory space attribute of a memdesc names.
ir::MemorySpace space_of(ir::Attribute memory_space);

}  // namespace twill::dialect
