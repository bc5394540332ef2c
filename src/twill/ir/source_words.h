#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::ir {

/// " (silu.py:17)": where the user's source has an op, to be put behind what is said of it; the
/// file without its folders. Empty where that is not known.
std::string source_words(const Program& program, OpId op);

}  // namespace twill::ir
