#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/compare_loop.h"
#include "twill/driver/explain.h"
#include "twill/driver/simulate_loop.h"

namespace twill::driver {

/// Contents of a page (page/page.h) beside an answer. All but the command may be missing.
struct PageParts {
  const char* command = "";  ///< "twill schedule"
  const Explained* explained = nullptr;
  const ComparedLoop* compared = nullptr;
  std::optional<double> measured;  ///< cycles of an iteration
  page::AsTriton triton;
  std::string certificate;  ///< folder of an accepted certificate
  page::PrintedKernels printed = {};
};

/// Trips of a run that is drawn: enough for a steady state, and for the trips before and after the
/// drawn trips.
inline constexpr std::int64_t kPageTrips = 96;

/// Runs the plan of an answer, if it has one, as long as a page needs. Fails as `simulate_planned`
/// does.
Result<SimulatedLoop> run_for_page(const Request& request, PlannedLoop planned);

/// The dependences of the schedule's ops with their roles (page/graph.h): as SVG for a file whose
/// name ends in ".svg", else as DOT. Without a schedule, a graph without ops.
std::string roles_of(const report::Outcome& outcome, const std::string& file);

/// The loop by strategy triton-plain, simulated. Empty if another strategy was requested.
page::AsTriton triton_for_page(const Request& request, const PlannedLoop& planned);

/// The printed kernels of the answer's plan, and the places of its ops in them. The module has this
/// plan, with a tile for each CTA, while `emit_ttgir` may look for another plan.
page::PrintedKernels printed_for_page(const Request& request, const PlannedLoop& planned);

/// Page of a loop, as HTML. Without a loop, the page has the parts alone. The run is drawn if it was
/// recorded.
std::string page_of(const SimulatedLoop& loop, const PageParts& parts);

}  // namespace twill::driver
