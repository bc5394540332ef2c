#pragma once

#include <string>
#include <string_view>

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::frontend {

/// Reads TTGIR as MLIR prints it: custom or generic form, with or without a module, aliases before
/// or after their use, locations of every kind. Independent of Triton's version: an op whose custom
/// form is not in the table of formats.cpp is kept. Kept are its operands in the order of the text,
/// attributes, regions, types, and the text between (Op::form).
///
/// Checks that every SSA name is defined once and visible at its uses, and that result counts fit.
/// Structured control flow must carry the right number and types of values. Fails at the first
/// violation, with file, line, column, the line's text and a hint. Nesting deeper than 200 levels
/// is refused. Cost: linear in the text.
Result<ir::Program> read_ttgir(std::string_view text, std::string file_name);

/// Whether a text that begins with this line, without blanks before it, is TTGIR: a module, a
/// function or an alias, `#name = ...`. A line `# words` is a comment of another text.
bool begins_ttgir(std::string_view line);

}  // namespace twill::frontend
