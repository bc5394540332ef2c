#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Objection to an attribute of a known op; empty if all attributes are right. Causes: an integer
/// of another type than the op declares, or outside its enumeration; a missing attribute, as after
/// an unknown keyword in the op's form. Attributes without an effect on Twill are not checked.
std::optional<std::string> wrong_attribute(const ir::Op& op);

}  // namespace twill::frontend::ttgir
