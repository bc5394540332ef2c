#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Objection to an attribute of a known op. An integer may be of another type than the op declares,
/// or beyond its enumeration. An attribute may be missing, as when a keyword of the op's form is
/// unknown. Attributes without an effect here are not checked. Empty if all are right.
std::optional<std::string> wrong_attribute(const ir::Op& op);

}  // namespace twill::frontend::ttgir
