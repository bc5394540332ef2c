#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/type.h"

namespace twill::frontend::ttgir {

/// Types at the end of a custom form: `: A, B -> C`, `: (A, B) -> (C, D)`, `: A to C`, `: A * B ->
/// C`.
struct TypeSection {
  std::vector<ir::Type> before;  ///< types before the arrow or `to`; without it, all types
  std::vector<ir::Type> after;
  bool has_arrow = false;
};

/// Types of the `count` results of the op `name`, derived by `rule` from the stated types. An
/// unknown type is "!twill.unknown".
std::vector<ir::Type> result_types(std::string_view name, ResultRule rule,
                                   const TypeSection& stated, std::size_t count,
                                   ir::TypeTable& types);

using ir::is_known;
using ir::kUnknownType;

}  // namespace twill::frontend::ttgir
