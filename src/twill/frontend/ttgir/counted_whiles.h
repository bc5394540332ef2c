#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

enum class Whiles {
  all,        ///< assumes positive steps, as a counting loop has
  innermost,  ///< only loops without inner loops, and with a known step
};

/// Replaces while loops that count by counting loops: `while i < n: ...; i += step`, or `i <= n`.
/// Bound n and step must be equal in all iterations.
///
/// Returns nullopt without such a loop.
std::optional<ir::Program> counted_whiles(const ir::Program& program, Whiles which = Whiles::all);

}  // namespace twill::frontend::ttgir
