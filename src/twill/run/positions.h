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

/// Integers of a function, and views of memory that they choose, in groups. No member of a group
/// is computed from another group, and no condition on a group decides about another group.
class Positions {
 public:
  /// Keeps references to the program and the guide, which must outlive the groups. Cost: linear in
  /// the function, for each branch or loop that a group decides.
  Positions(const ir::Program& program, ir::OpId function, const concurrent::Guide& guide);

  /// Whether no slot, phase or condition is computed from the number of an iteration, or read from
  /// a tile or memory. Comparisons of iterations with trips, or with numbers below `most`, may be.
  bool decide_apart(std::int64_t most) const;

  /// Whether each group among a loop's carried integers repeats itself after at most `longest`
  /// iterations, and is computed from no iteration number, tile or memory. Then the group goes on
  /// like that in all further iterations. Shorter `rounds` need not repeat themselves.
  bool repeat(const std::vector<ir::ValueId>& carried, const Rounds& rounds,
              std::size_t longest) const;

 private:
  /// Puts values of branches and loops into the groups that decide about these. Returns whether
  /// groups became one.
  bool unite_decided(const std::vector<ir::OpId>& ops);
  /// Values that decide which ops of a branch or a loop are done, and how often.
  std::vector<ir::ValueId> deciding(ir::OpId op) const;
  /// Whether a condition compares numbers of iterations, trips and constants alone.
  bool compares_trips(ir::ValueId condition) const;
  bool is_of_integers(const ir::Op& op) const;
  bool is_view(ir::ValueId value) const;
  /// Whether the value is an integer and no constant, or a view of memory chosen by such integers.
  bool varies(ir::ValueId value) const;
  std::set<std::size_t> groups_of(const std::vector<ir::ValueId>& values) const;
  std::size_t group_of(std::size_t value) const;
  bool unite(ir::ValueId a, ir::ValueId b);

  const ir::Program& program_;
  const concurrent::Guide& guide_;
  std::vector<std::size_t> parent_;      ///< by value: another value of its group, or itself
  std::vector<ir::ValueId> iterations_;  ///< induction variables
  std::vector<ir::ValueId> carried_;     ///< other arguments of loops
  std::vector<ir::ValueId> others_;      ///< integers computed from tiles or memory
  std::set<std::size_t> endless_;        ///< groups of `iterations_` and `others_`
};

}  // namespace twill::run
