#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "twill/concurrent/guide.h"
#include "twill/ir/program.h"

/// Internal to the room: integers of a module that are computed apart from each other, such as the
/// slot and the phase of each ring.
namespace twill::run {

/// Integers that a loop carries, by iteration.
using Rounds = std::vector<std::vector<std::int64_t>>;

/// Needed integers of a function in groups. No integer of a group is computed from another group,
/// and no condition on a group decides about another group.
class Positions {
 public:
  /// Cost: linear in the function. References are kept to no argument.
  Positions(const ir::Program& program, ir::OpId function, const concurrent::Guide& guide);

  /// Whether each group among the carried integers `carried` of a loop repeats itself after at most
  /// `longest` iterations, and is not computed from iteration numbers. Then the group goes on like
  /// that in all further iterations. Shorter `rounds` need not repeat themselves.
  bool repeat(const std::vector<ir::ValueId>& carried, const Rounds& rounds,
              std::size_t longest) const;

 private:
  std::size_t group_of(std::size_t value) const;
  void unite(ir::ValueId a, ir::ValueId b);

  std::vector<std::size_t> parent_;  ///< by value: another value of its group, or itself
  std::set<std::size_t> counting_;   ///< groups that are computed from iteration numbers
};

}  // namespace twill::run
