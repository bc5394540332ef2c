#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// The Program in MLIR's generic form, with its aliases and locations. Readable by read_ttgir, by
/// `mlir-opt --allow-unregistered-dialect`, and by Triton if ops had forms that Twill knows.
/// Op::form is kept as the attribute `twill.form`. Printing what was read from this text gives the
/// same bytes. Linear.
std::string to_text(const ir::Program& program);

/// A type or attribute on one line, aliases expanded.
inline const std::string& to_text(ir::Type type) { return type->text; }
inline const std::string& to_text(ir::Attribute attribute) { return attribute->text; }

}  // namespace twill::frontend::ttgir
