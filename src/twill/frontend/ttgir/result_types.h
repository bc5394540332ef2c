#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/type.h"

namespace twill::frontend::ttgir {

/// The types a custom form ends in: `: A, B -> C`, `: (A, B) -> (C, D)`, `: A to C`, `: A * B ->
/// C`.
struct TypeSection {
  std::vector<ir::Type> before;  ///< the arrow or `to`; everything if there is none
  std::vector<ir::Type> after;
  bool has_arrow = false;
};

/// Types of the `count` results of the op `name`, as `rule` derives them from what is stated. An
/// unknown type is "!twill.unknown".
std::vector<ir::Type> result_types(std::string_view name, ResultRule rule,
                                   const TypeSection& stated, std::size_t count,
                                   ir::TypeTable& types);

using ir::is_known;
using ir::kUnknownType;

}  // namespace twill::frontend::ttgir
