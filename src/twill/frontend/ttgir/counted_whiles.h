#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Makes counting loops of while loops that count: `while i < n: ...; i += step`, or `i <= n`,
/// where n and step are the same in all iterations. A step is taken to be positive, as that of a
/// counting loop.
///
/// nullopt if there is none to make.
std::optional<ir::Program> counted_whiles(const ir::Program& program);

}  // namespace twill::frontend::ttgir
