#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twill::ir {

/// Statements of PTX, without comments, braces, and spaces in front: "cvt.rna.tf32.f32 $0, $1".
/// Braces of a vector of operands stay.
std::vector<std::string> assembly_statements(std::string_view text);

}  // namespace twill::ir
