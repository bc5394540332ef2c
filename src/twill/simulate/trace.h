#pragma once

#include <span>
#include <string>

#include "twill/simulate/simulate.h"

namespace twill::simulate {

/// Notes on ops that a timeline shows beside their plan. Both may be missing.
struct TraceNotes {
  std::span<const std::string> lines;       ///< by OpId: place in the user's source, or empty
  const problem::Problem* costs = nullptr;  ///< costs of the run; null: the plan's own
};

/// Prints a recorded run as a timeline in the Trace Event Format, which ui.perfetto.dev and
/// chrome://tracing open. Each role and each unit has a track. An arrow leads from the arrival that
/// completed a phase to each wait that passed for it. Counters show rings and pipes. One cycle is
/// shown as a microsecond. Contents of each event: docs/reference/simulation.md.
std::string trace_json(const plan::Plan& plan, const Simulation& run, const TraceNotes& notes = {});

}  // namespace twill::simulate
