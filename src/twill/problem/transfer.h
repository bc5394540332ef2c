#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "twill/problem/objection.h"
#include "twill/problem/problem.h"

/// Transfer ops of a Problem. Groups decide which of these ops exist. Once the groups are chosen,
/// an ordinary Problem is left, the residual problem. All statements on schedules are about it.
namespace twill::problem {

/// A transfer op: the op that it follows into its group, and the crossings for which it exists.
struct TransferOp {
  OpId home;                                 ///< runs in the group of this op
  std::vector<std::pair<OpId, OpId>> moves;  ///< value and reader; it exists if the groups of one
                                             ///< pair differ
};

/// By op; none for ops that always exist. Cost: O(ops + loads).
std::vector<std::optional<TransferOp>> transfer_ops_of(const Problem& problem);

/// Whether it exists, given the group of each op.
bool is_needed(const TransferOp& transfer_op, const std::vector<GroupId>& groups);

/// The Problem as a choice of groups leaves it.
struct Residual {
  Problem problem;        ///< without transfers: needed transfer ops are ordinary ops
  std::vector<OpId> ops;  ///< by op of `problem`: which op of the original it is; ascending

  /// Op of `problem` for one of the original; empty if it was dropped. Cost: logarithmic.
  std::optional<OpId> now(OpId original) const;
};

/// Drops the transfer ops that these groups (by op) do not need. Where a value is
/// transferred, its dependence on the reader stays as an order only. Cost: that of a
/// copy.
Residual residual_of(const Problem& problem, const std::vector<GroupId>& groups);

/// Drops all transfer ops, and the values that may be transferred: a bound of the result holds for
/// all choices of groups. Cost: that of a copy.
Residual common_part(const Problem& problem);

/// For `pose`. Objection to the transfers of these Parts, whose ops, dependences and sets of one
/// group are right by themselves.
std::optional<Objection> objection_to_transfers(const Parts& parts);

/// For `pose`: all dependences, first the given ones of ops that always exist, then those of
/// transfer ops, made anew. Precondition: no objection.
std::vector<Dependence> with_transfer_ops(const Parts& parts);

}  // namespace twill::problem
