#pragma once

#include <optional>
#include <string>

#include "twill/dialect/type_forms.h"
#include "twill/driver/plan_loop.h"

namespace twill::driver {

/// A kernel, printed for Triton.
struct EmittedTtgir {
  PlannedLoop planned;  ///< look at its plan first, as with plan_loop
  std::string text;     ///< the module; empty without a plan
  /// Report of a rule that the module's roles break when they are run: a bug of ours, and the text
  /// must not be used. Empty if they work together.
  std::string broken;
};

/// Prints the kernel of the request's answer (`answer_loop`) as warp-specialized TTGIR, in the
/// spelling asked for or else that of the input. Fails for bad input (a `.loop` text has no kernel
/// to print), and for what cannot be expressed.
Result<EmittedTtgir> emit_ttgir(const Request& request,
                                std::optional<dialect::Spelling> spelling = std::nullopt);

/// Says in `planned.outcome.built` whether the kernel of the answer is one that Triton can have,
/// or why it is none: with a tile for each CTA, as the kernel is launched by its own grid. Leaves
/// `.loop` texts alone. Cost: where the answer walks tiles, a plan and its
/// proof, and a search if that schedule has no such plan.
void look_for_ttgir(const Request& request, PlannedLoop& planned);

}  // namespace twill::driver
