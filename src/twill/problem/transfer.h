#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "twill/problem/objection.h"
#include "twill/problem/problem.h"

/// Transfer ops of a Problem. Groups decide which of these ops exist. Once the groups are chosen,
/// an ordinary Problem is left, the residual problem. All statements on schedules are about the
/// residual problem.
namespace twill::problem {

/// Transfer op: the op whose group runs it, and the crossings for which it exists.
struct TransferOp {
  OpId home;                                 ///< op whose group runs the transfer op
  std::vector<std::pair<OpId, OpId>> moves;  ///< value and reader; the transfer op exists if the
                                             ///< groups of one pair differ
};

/// Transfer ops by op; empty for ops that always exist. Cost: O(ops + loads).
std::vector<std::optional<TransferOp>> transfer_ops_of(const Problem& problem);

/// Whether the transfer op exists, given the group of each op.
bool is_needed(const TransferOp& transfer_op, const std::vector<GroupId>& groups);

/// Residual problem that a choice of groups leaves.
struct Residual {
  Problem problem;        ///< without transfers: needed transfer ops are ordinary ops
  std::vector<OpId> ops;  ///< by op of `problem`: the original op; ascending

  /// Op of `problem` for an original op; empty if that op was dropped. Cost: logarithmic.
  std::optional<OpId> now(OpId original) const;
};

/// Drops the transfer ops that these groups (by op) do not need. Where a value is transferred, its
/// dependence on the reader stays as an order only. Cost: one copy of the Problem.
Residual residual_of(const Problem& problem, const std::vector<GroupId>& groups);

/// Drops all transfer ops, and the values that may be transferred. A bound on the result holds for
/// all choices of groups. Cost: one copy of the Problem.
Residual common_part(const Problem& problem);

/// Objection to the transfers of these Parts, for `pose`. Precondition: ops, dependences and sets
/// of one group have been checked.
std::optional<Objection> objection_to_transfers(const Parts& parts);

/// All dependences, for `pose`: first the given ones between ops that always exist, then those of
/// transfer ops, made anew. Precondition: no objection.
std::vector<Dependence> with_transfer_ops(const Parts& parts);

}  // namespace twill::problem
