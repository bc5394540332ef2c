#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/kernel.h"
#include "twill/driver/timing.h"
#include "twill/plan/make.h"
#include "twill/plan/proof.h"

/// Internal to the driver: from a schedule to a drafted and simulated plan, and to its proof. Only
/// the chosen plan needs a proof.
namespace twill::driver {

/// A schedule with its drafted plan.
struct Trial {
  verify::CheckedSchedule checked;
  plan::Setting setting;              ///< setting of the draft; points into the Reading
  std::vector<std::string> notes;     ///< notes for the plan
  std::optional<plan::Plan> draft;    ///< not proven yet
  std::optional<Diagnostic> refusal;  ///< reason why there is no draft
  bool without_turns = false;         ///< whether turns are possible, but not needed in simulation
  std::optional<FullRate> full;       ///< costs and timing of the draft's simulation
  std::optional<double> interval;  ///< simulated cycles of an iteration in the draft's steady state
};

/// Drafts the plan of the outcome's schedule with and without turns at the tensor core, with and
/// without staging, and keeps the fastest in simulation. Turns cost barriers, so they must gain
/// more than the model's error (docs/hardware-log.md). Staging must not lose that much. `shrink`:
/// use fewer copies if memory is short. Empty if the schedule breaks a rule. Fails for bad input.
/// Cost: two to four drafts and runs, about 10 ms.
Result<std::optional<Trial>> try_plan(const Request& request, const Reading& reading,
                                      const report::Outcome& outcome, bool shrink);

/// A proven plan, or the reason why there is none: a refusal if the schedule cannot be carried out,
/// findings if the plan is wrong.
struct Attempt {
  std::optional<plan::ProvenPlan> plan;
  std::optional<Diagnostic> refusal;
  std::vector<plan::Finding> findings;
};

/// Proves the draft of a trial; the plan gets `notes` in addition. A plan that is too large to
/// prove is refused. Fails if the request demands that CTAs walk tiles and they cannot.
Result<Attempt> prove_trial(const Request& request, const Reading& reading, Trial trial,
                            const std::vector<std::string>& notes);

}  // namespace twill::driver
