#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

enum class Whiles {
  all,        ///< a step is taken to be positive, as that of a counting loop
  innermost,  ///< without a loop in them, and by a step that is known
};

/// Makes counting loops of while loops that count: `while i < n: ...; i += step`, or `i <= n`,
/// where n and step are the same in all iterations.
///
/// nullopt if there is none to make.
std::optional<ir::Program> counted_whiles(const ir::Program& program, Whiles which = Whiles::all);

}  // namespace twill::frontend::ttgir
