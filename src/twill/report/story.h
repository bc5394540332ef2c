#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/report/outcome.h"

/// The one story that every command tells of an input: what its plan is simulated to take, what no
/// schedule can beat, and what limits it. Plain ASCII of at most 100 columns.
namespace twill::report {

/// No schedule of the loop is faster than this, which is proven: with every op at its fastest, over
/// all pools that were looked at; of a loop without rates, with its costs as they are.
Cycles proven_bound(const Outcome& outcome);

/// Interval that the plan keeps, in cycles: the longer of its simulated runs at full rates on
/// shared pipes and at slowest co-run rates. Nothing without a plan that has a steady state.
std::optional<double> kept_by_plan(const Outcome& outcome);

/// "1536 .. 1720.0 cycles": from the proven bound to what the plan keeps, and which run that is; of
/// a schedule without a plan, to the II that its order keeps. Precondition: there is a bracket.
std::string bracket_text(const Outcome& outcome);

/// From the proven bound to what the plan is simulated to take: each part that takes time, with its
/// cycles of an iteration, in tenths; they add up to what lies between. Empty without a plan that
/// has a steady state, and where nothing lies between.
struct GapPart {
  std::string what;
  double cycles = 0;
};
std::vector<GapPart> gap_of(const Outcome& outcome);

/// "fa_fwd on h200, pool 2x64: 2421.8 cycles an iteration, simulated"; of a schedule without a plan
/// its II, and that there is no plan. Precondition: there is a schedule.
std::string headline(const Outcome& outcome);

/// The headline, and a line with the proven bound and the limiter: what every command begins with.
/// Empty without a schedule.
std::string story(const Outcome& outcome);

/// First screen of `twill schedule`, at most 12 lines: the headline, what is proven, what lies
/// between the two, what limits it, and what can be had. Precondition: there is a schedule.
std::string first_screen(const Outcome& outcome);

}  // namespace twill::report
