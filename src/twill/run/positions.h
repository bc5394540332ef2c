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
  /// Keeps references to the program and the guide, which must outlive the groups. Cost: linear in
  /// the function, for each branch or loop that a group decides.
  Positions(const ir::Program& program, ir::OpId function, const concurrent::Guide& guide);

  /// Whether each group among the carried integers `carried` of a loop repeats itself after at most
  /// `longest` iterations, and is not computed from iteration numbers. Then the group goes on like
  /// that in all further iterations. Shorter `rounds` need not repeat themselves.
  bool repeat(const std::vector<ir::ValueId>& carried, const Rounds& rounds,
              std::size_t longest) const;

 private:
  /// Puts values of branches and loops into the groups that decide about these. Returns whether
  /// groups became one.
  bool unite_decided(const std::vector<ir::OpId>& ops);
  /// Values that decide which ops of a branch or a loop are done, and how often.
  std::vector<ir::ValueId> deciding(ir::OpId op) const;
  /// Whether a condition compares the number of an iteration with trips or a constant.
  bool compares_trips(ir::ValueId condition) const;
  /// Whether an integer decides steps, and is no constant.
  bool varies(ir::ValueId value) const;
  std::set<std::size_t> groups_of(const std::vector<ir::ValueId>& values) const;
  std::size_t group_of(std::size_t value) const;
  bool unite(ir::ValueId a, ir::ValueId b);

  const ir::Program& program_;
  const concurrent::Guide& guide_;
  std::vector<std::size_t> parent_;      ///< by value: another value of its group, or itself
  std::vector<ir::ValueId> iterations_;  ///< induction variables
  std::vector<ir::ValueId> carried_;     ///< other arguments of loops
  std::set<std::size_t> counting_;       ///< groups computed from numbers of iterations
};

}  // namespace twill::run
