#pragma once

#include <optional>
#include <vector>

#include "twill/driver/plan_loop.h"
#include "twill/page/gather.h"
#include "twill/simulate/print.h"
#include "twill/simulate/simulate.h"

namespace twill::driver {

/// Trips and timing of a plan's run.
struct RunRequest {
  std::int64_t trips = 1000;                  ///< trips of the run whose figures are shown
  std::optional<std::uint64_t> jitter;        ///< as in simulate::Timing
  std::optional<std::int64_t> recorded = {};  ///< trips of a separate run that is recorded
  bool for_page = false;  ///< whether to add the page's other contents: Triton, printed kernels
};

/// A loop, its plan, and runs of it, which point into `plan`.
struct SimulatedLoop {
  std::optional<report::Outcome> outcome;  ///< nullopt if the input is a plan
  std::optional<plan::ProvenPlan> plan;    ///< nullopt without a schedule, or if the proof failed
  std::vector<plan::Finding> findings;  ///< findings if the proof failed, of a plan that was read
                                        ///< or of Twill's own
  std::optional<Diagnostic> refusal;    ///< reason why a schedule has no plan
  std::optional<simulate::Simulation> run;
  std::optional<simulate::Simulation> timeline;  ///< the recorded run, if one was requested
  simulate::Account account;
  std::optional<problem::Problem> costs;  ///< costs of the run, if not the plan's own
  std::optional<simulate::Fault> fault;   ///< fault of a proven plan: a bug of Twill
  PlannedLoop::Seconds seconds = {};      ///< seconds before the run
  double run_seconds = 0;                 ///< seconds of the run, without the runs for the account
  page::AsTriton triton;                  ///< only for a page
  page::PrintedKernels printed;           ///< only for a page
};

/// Schedules and plans the input's loop as `plan_loop` does, or reads a plan's JSON and proves it;
/// then runs the plan. A TTGIR kernel runs with every op at its full rate on shared pipes, whatever
/// rate its schedule has; `.loop` texts and plans run with their own costs. Barrier signals have
/// the cost of the kernel's machine; for a plan, of the machine that the plan or `request.machine`
/// names. A `.loop` text has no signals.
Result<SimulatedLoop> simulate_loop(const Request& request, const RunRequest& wanted);

/// Runs a planned loop of that request.
Result<SimulatedLoop> simulate_planned(const Request& request, PlannedLoop planned,
                                       const RunRequest& wanted);

}  // namespace twill::driver
