#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::ir {

/// "tt.descriptor_load @ 21:10": the op's name, and its line and column in the text.
std::string op_words(const Program& program, OpId op);

/// " (silu.py:17)": where the user's source has an op, to be put behind what is said of it; the
/// file without its folders. Empty where that is not known.
std::string source_words(const Program& program, OpId op);

}  // namespace twill::ir
