#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Prints the Program in MLIR's generic form, with its aliases and locations. Readable by
/// read_ttgir, by `mlir-opt --allow-unregistered-dialect`, and by Triton if Twill knew the forms of
/// all ops. The attribute `twill.form` keeps Op::form. Reading this text and printing again gives
/// the same bytes. Linear.
std::string to_text(const ir::Program& program);

/// Prints a type or attribute on one line, aliases expanded.
inline const std::string& to_text(ir::Type type) { return type->text; }
inline const std::string& to_text(ir::Attribute attribute) { return attribute->text; }

}  // namespace twill::frontend::ttgir
