#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/plan/proof.h"

namespace twill::driver {

/// A loop with its schedule, and the plan that carries it out.
struct PlannedLoop {
  report::Outcome outcome;               ///< look at `violations` and the verdict first
  std::optional<plan::ProvenPlan> plan;  ///< nothing without a schedule
  std::vector<plan::Finding> findings;   ///< if our own plan failed its proof: a bug of ours
  struct Seconds {
    double schedule = 0;  ///< the schedules that were looked for
    double plan = 0;      ///< drafts, their proofs, and the runs that decide on turns
  } seconds = {};
};

/// Schedules the loop and plans the kernel. Where the fastest schedule cannot be carried out (what
/// its groups hand to each other does not fit the memory), the other pools are tried, fastest
/// first, then the other ends of the costs, then other structures of the same II, then fewer
/// copies, then the optima with a part of the memory, and a note in the plan says so; an
/// alternative has no substitute but itself with fewer copies. Fails for bad input, and if no
/// schedule in hand can be carried out.
Result<PlannedLoop> plan_loop(const Request& request);

/// The same for what `schedule_loop` says to that request.
Result<PlannedLoop> plan_scheduled(const Request& request, report::Outcome first);

}  // namespace twill::driver
