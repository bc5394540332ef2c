#pragma once

#include <string>

#include "twill/simulate/simulate.h"

namespace twill::simulate {

/// The timeline in the Trace Event Format that Perfetto and chrome://tracing open: a process of
/// roles and one of units, a track each; a microsecond there is a cycle here. Arrows lead from the
/// arrival that completed a phase to the waits that passed for it. Precondition: `run` was
/// recorded.
std::string trace_json(const plan::Plan& plan, const Simulation& run);

}  // namespace twill::simulate
