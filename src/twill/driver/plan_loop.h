#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/plan/proof.h"

namespace twill::driver {

struct Reading;

/// THE answer for an input: a loop, the schedule that would be built, and the plan that carries it
/// out.
struct PlannedLoop {
  report::Outcome outcome;               ///< look at `violations` and the verdict first
  std::optional<plan::ProvenPlan> plan;  ///< nothing without a schedule
  std::vector<plan::Finding> findings;   ///< if our own plan failed its proof: a bug of ours
  struct Seconds {
    double schedule = 0;  ///< the schedules that were looked for, with their drafts and runs
    double plan = 0;      ///< what came after: proofs, and drafts of further schedules
  } seconds = {};
  std::optional<Diagnostic> refusal = {};       ///< there is a schedule, and no plan of it: why
  std::shared_ptr<const Reading> reading = {};  ///< the input, for what else is done with it
  /// Why the door that was asked for does not print the plan; nothing if it does, or none was.
  std::optional<Diagnostic> unprinted = {};
};

/// A way out of plans: a language in which their kernels are printed.
struct Door {
  /// Why the kernel of a plan cannot be printed; nothing if it can be. Precondition: the outcome is
  /// of a kernel, and the plan of the outcome's schedule.
  std::function<std::optional<Diagnostic>(const Reading&, const report::Outcome&,
                                          const plan::ProvenPlan&)>
      why_not;
  /// Whether another plan of the kernel may be printed where this one is not.
  std::function<bool(const plan::Plan&)> may_differ;
};

/// Choices about an answer beyond the request.
struct AnswerChoice {
  /// Others may take the place of twill's answer where that is not printed, or not proven.
  bool other_strategies = true;
  /// The answer is the best that this door prints. Without one, printing is not asked about.
  const Door* door = nullptr;
  /// Only the schedules of the first look: none is searched for in the place of what is refused.
  bool first_look = false;
};

/// Reads the input once and walks the list of candidates:
/// - schedules of each pool, at both cost bounds,
/// - schedules of pools that were not solved,
/// - other structures that are as fast,
/// - plans with fewer copies,
/// - optima with a part of the memory,
/// - other strategies, where the choice's door does not print the kernel, or no proof keeps them
///   from being faster.
///
/// Each is posed, solved, verified, drafted and simulated. The answer is the fastest in simulation
/// among those that a plan carries out, and is proven. `outcome.candidates` says what became of
/// each. A note of the plan says why the first is not the answer. An alternative or an imported
/// schedule has no substitute but itself with fewer copies. Fails for bad input only: a
/// loop without a schedule, or a schedule without a plan, is an answer.
Result<PlannedLoop> answer_loop(const Request& request, const AnswerChoice& choice = {});
/// The same for an input that was read before.
Result<PlannedLoop> answer_reading(const Request& request, std::shared_ptr<const Reading> reading,
                                   const AnswerChoice& choice = {});

/// The same, for who needs a plan: fails if no schedule in hand can be carried out.
Result<PlannedLoop> plan_loop(const Request& request);

}  // namespace twill::driver
