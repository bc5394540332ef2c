#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/explain/ask.h"
#include "twill/explain/core.h"
#include "twill/explain/what_ifs.h"

namespace twill::explain {

/// Knowledge about smaller changes of the same what-if.
enum class Extent {
  least,         ///< every smaller change was proven not to suffice
  perhaps_less,  ///< a limit ended the search for a smaller change
  example,       ///< no smaller change was looked for
};

/// Value of a what-if at which there is a faster schedule.
struct Point {
  std::string to;       ///< "192"
  Cycles interval = 0;  ///< II that becomes possible; a schedule of the changed Problem was found
  bool best = true;     ///< a smaller II was proven impossible at this value
  Extent extent = Extent::least;
};

/// Effect of one change, with everything else as it is.
struct Help {
  std::string what;           ///< name of the what-if
  std::string from;           ///< present value
  std::vector<Point> points;  ///< by growing change; beyond the last one, more change buys nothing
  bool of_op = false;         ///< concerns single ops rather than the machine
};

/// Changes that would lower the II, or make an II possible.
struct Sensitivity {
  std::vector<Help> helps;                 ///< the largest gain first
  std::vector<std::string> useless;        ///< proven: no amount of change helps
  std::vector<std::string> useless_of_op;  ///< as `useless`, for single ops
  std::vector<std::string> undecided;      ///< a limit ended the search
};

/// Goal of the changes.
struct Goal {
  std::optional<Cycles> interval;  ///< the II to make possible; empty: any II
  bool and_more = false;           ///< then also how far each change alone can go
};

/// Turns each what-if until the goal is met. A what-if that touches no requirement of the core is
/// skipped: the core stays, and so does the II. Every figure comes from a search in the changed
/// Problem. Precondition: `core` proves that the Problem has no schedule that meets the goal.
Sensitivity sensitivity(std::span<const WhatIf> what_ifs, std::span<const Variant> variants,
                        const Core& core, const Goal& goal, Asker& asker);

}  // namespace twill::explain
