#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/dialect/type_forms.h"
#include "twill/driver/plan_loop.h"

namespace twill::driver {

/// A kernel, printed for Triton.
struct EmittedTtgir {
  PlannedLoop planned;             ///< look at its plan first, as with plan_loop
  std::string text;                ///< the module; empty without a plan
  std::vector<std::string> notes;  ///< on the module, for people; they stand in the text, too
  std::vector<std::string> roles;  ///< of the module: of which of the plan each is, or a helper
  /// The plan as the module has it: with a role that stores the boxes which others fill.
  std::optional<plan::ProvenPlan> stored;
  /// Report of a rule that the module's roles break when they are run: a bug of ours, and the text
  /// must not be used; or of where they do not do what the plan says. Empty if they work together.
  std::string broken;
};

/// Says why the code that a compiler makes of a module must not be used; nothing if it may be.
using JudgeTtgir = std::function<Result<std::vector<std::string>>(const std::string& text)>;

struct TtgirChoice {
  std::optional<dialect::Spelling> spelling = {};  ///< of the text; else that of the input
  /// Compiles each text. Without it, an estimate takes its place: a role whose tiles need more
  /// registers than it has (pressure.h).
  JudgeTtgir judge = {};
};

/// Prints the kernel of the request's answer (`answer_loop`, by the door of TTGIR: the best plan
/// that can be printed) as warp-specialized TTGIR. If the code would spill or its products be
/// serialized, plans with more and more registers kept free are tried. The best good one is taken,
/// or the first of all if none is good. A request that names registers to spare or a schedule keeps
/// its plan. Fails for bad input (a `.loop` text has no kernel to print), for what cannot be
/// expressed, and if the judge does.
Result<EmittedTtgir> emit_ttgir(const Request& request, const TtgirChoice& choice = {});

/// Says in `planned.outcome.built` which doors print the kernel of the answer, or why they do not.
/// Doors: TTGIR with one tile for each CTA, as the kernel's own grid launches it, and CUDA. Leaves
/// `.loop` texts alone. Cost: where the answer walks tiles, a plan and its proof, and a search if
/// that schedule has no such plan.
void look_for_doors(const Request& request, PlannedLoop& planned);

/// The refusal of a printer. Where it does not say what to do, it names the page about that.
Diagnostic with_page(Diagnostic why);

}  // namespace twill::driver
