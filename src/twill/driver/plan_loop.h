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

/// The answer for an input: a loop, the schedule that would be built, and the plan that carries it
/// out.
struct PlannedLoop {
  report::Outcome outcome;               ///< look at `violations` and the verdict first
  std::optional<plan::ProvenPlan> plan;  ///< nullopt without a schedule
  std::vector<plan::Finding> findings;  ///< findings if Twill's own plan failed its proof: a bug of
                                        ///< Twill
  struct Seconds {
    double schedule = 0;  ///< search for schedules, with their drafts and runs
    double plan = 0;      ///< later steps: proofs, and drafts of further schedules
  } seconds = {};
  std::optional<Diagnostic> refusal = {};       ///< reason, if there is a schedule without a plan
  std::shared_ptr<const Reading> reading = {};  ///< the input, for further steps
  /// Reason why the requested door does not print the plan; nullopt if it does, or without a door.
  std::optional<Diagnostic> unprinted = {};
};

/// A language in which the kernels of plans are printed.
struct Door {
  /// Reason why the kernel of a plan cannot be printed; nullopt if it can be. Precondition: the
  /// outcome is of a kernel, and the plan of the outcome's schedule.
  std::function<std::optional<Diagnostic>(const Reading&, const report::Outcome&,
                                          const plan::ProvenPlan&)>
      why_not;
  /// Whether another plan of the kernel may be printable although this plan is not.
  std::function<bool(const plan::Plan&)> may_differ;
};

/// Choices about an answer beyond the request.
struct AnswerChoice {
  /// Other strategies may replace twill's answer if it is not printed, or not proven.
  bool other_strategies = true;
  /// The answer is the best that this door prints. Without a door, printability is not checked.
  const Door* door = nullptr;
  /// Only the schedules of the first look: no substitutes for refused schedules are searched for.
  bool first_look = false;
};

/// Reads the input once and walks the list of candidates:
/// - schedules of each pool, at both cost bounds,
/// - schedules of pools that were not solved,
/// - other structures that are as fast,
/// - plans with fewer copies,
/// - optima with a part of the memory,
/// - other strategies, if the choice's door does not print the kernel, or no proof rules out that
///   they are faster.
///
/// Each is posed, solved, verified, drafted and simulated. The answer is the fastest in simulation
/// among the candidates with a proven plan. `outcome.candidates` records the fate of each. A note
/// of the plan says why the first is not the answer. An alternative or an imported schedule has no
/// substitute but itself with fewer copies. Fails for bad input only: a loop without a schedule, or
/// a schedule without a plan, is an answer.
Result<PlannedLoop> answer_loop(const Request& request, const AnswerChoice& choice = {});
/// The same for an input that was read before.
Result<PlannedLoop> answer_reading(const Request& request, std::shared_ptr<const Reading> reading,
                                   const AnswerChoice& choice = {});

/// As `answer_loop`, for callers that need a plan: fails if no schedule at hand has a plan.
Result<PlannedLoop> plan_loop(const Request& request);

}  // namespace twill::driver
