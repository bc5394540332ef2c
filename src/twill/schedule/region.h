#pragma once

#include <string>
#include <vector>

#include "twill/problem/ops.h"

/// Parts of a loop in which groups take turns.
namespace twill::schedule {

/// Turn of a group in a region: its ops from `first` to `last`, of the same iteration.
struct Turn {
  problem::OpId first;
  problem::OpId last;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// Critical region, which one group at a time may enter: each group once per iteration, in the
/// order of the turns. The groups of the turns differ.
struct Region {
  std::vector<Turn> turns;  ///< two or more
  friend bool operator==(const Region&, const Region&) = default;
};

/// Regions of a loop, if the user asked for them.
struct Regions {
  std::vector<Region> all;
  std::string note;  ///< a sentence: where the regions are, or why there are none; empty if not
                     ///< asked for
};

}  // namespace twill::schedule
