#pragma once

#include <span>
#include <string>

#include "twill/simulate/simulate.h"

namespace twill::simulate {

/// Notes on ops that a timeline shows beyond their plan. Both may be missing.
struct TraceNotes {
  std::span<const std::string> lines;       ///< by OpId: where the user's source has it, or empty
  const problem::Problem* costs = nullptr;  ///< that the run had; null: the plan's own
};

/// A recorded run as a timeline in the Trace Event Format, which ui.perfetto.dev and
/// chrome://tracing open. Each role and each unit has a track. An arrow leads from the arrival that
/// completed a phase to each wait that passed for it. Counters show rings and pipes. A cycle is a
/// microsecond there. Contents of each event: docs/reference/simulation.md.
std::string trace_json(const plan::Plan& plan, const Simulation& run, const TraceNotes& notes = {});

}  // namespace twill::simulate
