#pragma once

#include <span>
#include <string>

#include "twill/simulate/simulate.h"

namespace twill::simulate {

/// What a timeline says of ops beyond their plan. Both may be missing.
struct TraceNotes {
  std::span<const std::string> lines;       ///< by OpId: where the user's source has it, or empty
  const problem::Problem* costs = nullptr;  ///< that the run had; null: the plan's own
};

/// A recorded run as a timeline in the Trace Event Format, which ui.perfetto.dev and
/// chrome://tracing open: a track for each role and unit, an arrow from the arrival that completed
/// a phase to each wait that passed for it, and counters of rings and pipes. A cycle is a
/// microsecond there. docs/reference/simulation.md says what each event carries.
std::string trace_json(const plan::Plan& plan, const Simulation& run, const TraceNotes& notes = {});

}  // namespace twill::simulate
