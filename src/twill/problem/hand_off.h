#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "twill/problem/objection.h"
#include "twill/problem/problem.h"

/// Transfer ops of a Problem. Groups decide which of these ops exist. Once the groups are chosen,
/// what is left is an ordinary Problem, the residual problem, and everything that is said of
/// schedules is said of that one.
namespace twill::problem {

/// A transfer op: the op that it follows into its group, and the crossings for which it exists.
struct Errand {
  OpId home;                                  ///< runs in the group of this op
  std::vector<std::pair<OpId, OpId>> moves;   ///< value and reader; it exists if the groups of one
                                              ///< pair differ
};

/// By op; none for ops that always exist. Cost: O(ops + loads).
std::vector<std::optional<Errand>> errands_of(const Problem& problem);

/// Whether it exists, given the group of each op.
bool is_needed(const Errand& errand, const std::vector<GroupId>& groups);

/// The Problem as a choice of groups leaves it.
struct Reduced {
  Problem problem;        ///< without hand-offs: those that are needed are ops like any other
  std::vector<OpId> ops;  ///< by op of `problem`: which op of the original it is; ascending

  /// Op of `problem` for one of the original; nothing if it was dropped. Cost: logarithmic.
  std::optional<OpId> now(OpId original) const;
};

/// Drops the transfer ops that these groups (by op) do not need. Where a value is
/// transferred, its dependence on the reader stays as an order only. Cost: that of a
/// copy.
Reduced reduced(const Problem& problem, const std::vector<GroupId>& groups);

/// The same without all transfer ops, and without the values that may be transferred: a bound of it
/// holds whatever the groups are. Cost: that of a copy.
Reduced common_part(const Problem& problem);

/// For `pose`. What is wrong with the hand-offs of these Parts, whose ops, dependences and sets of
/// one group are fine by themselves.
std::optional<Objection> objection_to_hand_offs(const Parts& parts);

/// For `pose`: all dependences, first those of ops that always exist as they stand there, then
/// those of the hand-offs, made anew. Precondition: no objection.
std::vector<Dependence> with_errands(const Parts& parts);

}  // namespace twill::problem
