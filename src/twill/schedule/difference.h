#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "twill/schedule/schedule.h"

/// Differences of two schedules of a Problem, other than cycles.
///
/// The *structure* of a schedule has three parts:
///
/// - the alternative of every op;
/// - which ops share a group, where groups that differ in name alone stand for each other;
/// - if the rule `unit` is in force, the *round* of any two ops on one exclusive unit: floor((M(b)
///   - M(a)) / II). The round is their order on the unit, with iterations counted. Streaming ops
///   have none: rings decide how far they run ahead.
///
/// Slots alone, and stages of ops without a unit, are not part of the structure. Groups decide
/// which transfer ops exist, and only those that exist have rounds.
namespace twill::schedule {

/// Kind of a group: warps, registers, whether it is a load group, and its register budget. Groups
/// of one kind differ in their names only.
using GroupKind = std::tuple<int, int, bool, std::optional<std::size_t>>;
GroupKind kind_of(const problem::Problem& problem, GroupId group);

struct Difference {
  enum class Kind {
    alternative,  ///< `op` has another alternative
    group,        ///< `op` runs in another group
    order,        ///< `op` has another round after `other`, a later op on the same unit
  };
  Kind kind = Kind::alternative;
  OpId op;
  OpId other;            ///< for `order`: the first op of the pair
  std::int64_t is = 0;   ///< index of the alternative or of the group, or the round
  std::int64_t was = 0;  ///< like `is`, in the other schedule
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Whether the structure has a round for these two ops in this schedule: both ops exist.
bool has_round(const problem::Problem& problem, const Schedule& schedule, OpId a, OpId b);

/// Round of `b` after `a`, by their issue cycles M: floor((M(b) - M(a)) / II).
///
///     a of iteration i + round     b of iteration i     a of iteration i + round + 1
///     -----|---------------------------|---------------------|----> cycles
std::int64_t round_after(const Schedule& schedule, OpId a, OpId b);

/// Renames groups of one kind so that as many ops as possible run in the groups of `model`, largest
/// overlap first. Precondition here and below: both are schedules of `problem`.
Schedule aligned(const problem::Problem& problem, const Schedule& schedule, const Schedule& model);

/// Lists the differences of `schedule` from `model`: alternatives, then groups, then rounds, each
/// by op. `schedule` should be `aligned` with `model`. Empty iff both have the same structure. Only
/// ops that exist in both schedules are compared; where a store or load exists in only one
/// schedule, groups differ. Cost: pairs of ops.
std::vector<Difference> differences(const problem::Problem& problem, const Schedule& schedule,
                                    const Schedule& model);

}  // namespace twill::schedule
