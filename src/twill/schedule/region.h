#pragma once

#include <string>
#include <vector>

#include "twill/problem/ops.h"

/// Parts of a loop in which groups take turns.
namespace twill::schedule {

/// Ops of one group in a region: from `first` to `last`, of the same iteration.
struct Turn {
  problem::OpId first;
  problem::OpId last;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// A critical region, in which one group is at a time: each group once per iteration, in the order
/// of the turns. The groups of the turns differ.
struct Region {
  std::vector<Turn> turns;  ///< two or more
  friend bool operator==(const Region&, const Region&) = default;
};

/// The regions of a loop, if they were asked for.
struct Regions {
  std::vector<Region> all;
  std::string note;  ///< a sentence: where they are, or why there are none; empty: not asked for
};

}  // namespace twill::schedule
