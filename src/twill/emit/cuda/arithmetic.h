#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/ir/program.h"

namespace twill::emit::cuda {

/// One operation on single elements as a C++ expression over the expressions of its operands;
/// empty if the operation, or its type, has no expression. The numerics are those of
/// docs/reference/cuda.md: exp2, exp, log and division of f32 are the hardware's approximations.
std::optional<std::string> arithmetic(const ir::Program& program, const ir::Op& op,
                                      const std::vector<std::string>& operands);

/// A constant of a scalar type or of a tile's elements; empty if the value is no constant.
std::optional<std::string> constant(const ir::Program& program, ir::ValueId value);

}  // namespace twill::emit::cuda
