#pragma once

#include <cstdint>
#include <string>

#include "twill/report/outcome.h"

namespace twill::report {

/// Parts that the user asked for beyond the answer itself.
struct Printing {
  std::int64_t trips = 0;  ///< also the cycles of this many iterations, if positive
  bool timing = false;     ///< also the seconds of each step, which differ from run to run
  bool verbose = false;    ///< all facts, below the first screen
};

/// Prints the first screen (report/story.h), in at most 100 columns of plain ASCII. With `verbose`
/// also: II and bracket, bounds, loads of resources, groups with ops and registers, buffers with
/// depths, and the steady state as a picture. Without a schedule: the verdict and its reason.
std::string summary(const Outcome& outcome, const Printing& printing);

/// Describes the interval: "II 2048 cycles, 2 stages, length 3072".
std::string interval_line(const problem::Problem& problem, const schedule::Schedule& schedule);

/// Draws the steady state, under a line that says how to read it. Precondition: the outcome has a
/// schedule.
std::string picture(const Outcome& outcome);

}  // namespace twill::report
