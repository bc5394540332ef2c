#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/explain/ask.h"
#include "twill/explain/core.h"
#include "twill/explain/what_ifs.h"

namespace twill::explain {

/// Knowledge of smaller changes of the same what-if.
enum class Extent {
  least,         ///< every smaller change was proven not to suffice
  perhaps_less,  ///< a limit ended the search for a smaller one
  example,       ///< none was looked for
};

/// A value of a what-if at which there is a faster schedule.
struct Point {
  std::string to;       ///< "192"
  Cycles interval = 0;  ///< the II it makes possible; a schedule of the changed Problem was found
  bool best = true;     ///< and a smaller one was proven impossible there
  Extent extent = Extent::least;
};

/// Effect of one change, with everything else as it is.
struct Help {
  std::string what;           ///< the what-if
  std::string from;           ///< its value as it is
  std::vector<Point> points;  ///< by growing change; at the last one more of it buys nothing
  bool of_op = false;         ///< about single ops rather than the machine
};

/// Changes that would lower the II, or make one possible.
struct Sensitivity {
  std::vector<Help> helps;                 ///< the largest gain first
  std::vector<std::string> useless;        ///< proven: however far it is changed
  std::vector<std::string> useless_of_op;  ///< as `useless`, of single ops
  std::vector<std::string> undecided;      ///< a limit ended the search
};

/// Aim of the changes.
struct Goal {
  std::optional<Cycles> interval;  ///< the II to make possible; none: any at all
  bool and_more = false;           ///< then also how far each change alone can go
};

/// Turns each what-if until the goal is met. A what-if that touches no requirement of the core is
/// skipped: the core stays, and so does the II. Every figure comes from a search in the changed
/// Problem. Precondition: `core` proves that the Problem has no schedule that meets the goal.
Sensitivity sensitivity(std::span<const WhatIf> what_ifs, std::span<const Variant> variants,
                        const Core& core, const Goal& goal, Asker& asker);

}  // namespace twill::explain
