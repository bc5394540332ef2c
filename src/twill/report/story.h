#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/report/outcome.h"

/// Story of an answer, with which every command begins: simulated cycles of the plan, the proven
/// bound for all schedules, and the limiter. Plain ASCII of at most 100 columns.
namespace twill::report {

/// Proven lower bound on the II of every schedule of the loop: with every op at its fastest, over
/// all pools that were considered. A loop without rates has one set of costs. Such a loop's bound
/// is about schedules with room for their transfers, if these have a higher bound.
Cycles proven_bound(const Outcome& outcome);

/// States the bound: "nothing below 2560 exists", or "can be built".
std::string nothing_below(const Outcome& outcome);

/// Interval that the plan keeps, in cycles: the longer of its simulated runs at full rates on
/// shared pipes and at slowest co-run rates. Empty without a plan that has a steady state.
std::optional<double> kept_by_plan(const Outcome& outcome);

/// States the bracket: "1536 .. 1720.0 cycles", from the proven bound to the interval that the plan
/// keeps, with the run behind that figure. Without a plan, to the II at which the schedule's order
/// can be kept. Precondition: there is a bracket.
std::string bracket_text(const Outcome& outcome);

/// Part of the gap from the proven bound to the simulated interval: a cause, with its cycles of an
/// iteration in tenths. The parts add up to the gap. Without a gap, or a plan that has a steady
/// state, there are no parts.
struct GapPart {
  std::string what;
  double cycles = 0;
};
std::vector<GapPart> gap_of(const Outcome& outcome);

/// Headline: "fa_fwd on h200, pool 2x64: 2421.8 cycles an iteration, simulated". Without a plan:
/// the schedule's II, and that there is no plan. Precondition: there is a schedule.
std::string headline(const Outcome& outcome);

/// The headline, and a line with the proven bound and the limiter. Every command begins with both.
/// Empty without a schedule.
std::string story(const Outcome& outcome);

/// Lists the commands by which the plan becomes a kernel, "`twill emit ttgir` (Triton)", or the
/// refusal. Precondition: there is a plan, and the doors that print it are known.
std::string way_out(const Built& built);

/// First screen of `twill schedule`, at most 12 lines: headline, proven bound, the gap between the
/// two, the limiter, and the next commands. Precondition: there is a schedule.
std::string first_screen(const Outcome& outcome);

}  // namespace twill::report
