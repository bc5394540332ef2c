#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Objection to an attribute of a known op. An integer may be of another type than the op declares,
/// or beyond its enumeration; or it may be missing, as where a keyword of the op's form is unknown.
/// Attributes that change nothing here are not looked at. Empty if there is nothing wrong.
std::optional<std::string> wrong_attribute(const ir::Op& op);

}  // namespace twill::frontend::ttgir
