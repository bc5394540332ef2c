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
  std::vector<std::string> notes;  ///< notes on the module, for people; the text has them, too
  std::vector<std::string> roles;  ///< by role of the module: the role of the plan that it carries
                                   ///< out, or a helper
  /// The plan of the module, with a role that stores the boxes that other roles fill.
  std::optional<plan::ProvenPlan> stored;
  /// Report of a rule that the module's roles break when run, or of a difference from the plan.
  /// Both are bugs of Twill, and the text must not be used. Empty if the roles work together.
  std::string broken;
};

/// Reasons why the compiled code of a module must not be used; empty if it may be used.
using JudgeTtgir = std::function<Result<std::vector<std::string>>(const std::string& text)>;

/// Takes the text before it is checked, so that its reader can begin. The text must not be used
/// unless `emit_ttgir` then returns a text, and reports nothing broken. That text may have more
/// comments.
using TakeUnchecked = std::function<Result<void>(const std::string& text)>;

struct TtgirChoice {
  std::optional<dialect::Spelling> spelling = {};  ///< spelling of the text; default: the input's
                                                   ///< spelling
  /// Compiles each text. Without it, an estimate decides: a role must not need more registers than
  /// it has (pressure.h).
  JudgeTtgir judge = {};
  TakeUnchecked take_unchecked = {};  ///< called at most once; its error is emit_ttgir's
};

/// Prints the kernel of the request's answer as warp-specialized TTGIR. (`answer_loop`, by the door
/// of TTGIR: the best plan that can be printed.) If the code would spill or serialize its products,
/// tries plans with more and more registers kept free. The best good plan is taken, or the first if
/// no plan is good. A request that names spare registers or a schedule keeps its plan. Fails for
/// bad input (a `.loop` text has no kernel to print), for kernels that TTGIR cannot express, and if
/// the judge fails.
Result<EmittedTtgir> emit_ttgir(const Request& request, const TtgirChoice& choice = {});

/// Records in `planned.outcome.built` which doors print the kernel of the answer, or why they do
/// not. The doors are TTGIR with one tile for each CTA, as the kernel's own grid launches it, and
/// CUDA. Does not change `.loop` texts. Cost: if the answer walks tiles, a plan and its proof, and
/// a search if that schedule has no such plan.
void look_for_doors(const Request& request, PlannedLoop& planned);

/// The refusal of a printer. Without a hint of its own, it refers to the page of printable kernels.
Diagnostic with_page(Diagnostic why);

}  // namespace twill::driver
