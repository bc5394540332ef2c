#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::ir {

/// "tt.descriptor_load @ 21:10": the op's name, and its line and column in the text.
std::string op_words(const Program& program, OpId op);

/// " (silu.py:17)": an op's place in the user's source, to be appended to a message. The file is
/// named without its folders. Empty if unknown.
std::string source_words(const Program& program, OpId op);

}  // namespace twill::ir
