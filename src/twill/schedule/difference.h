#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "twill/schedule/schedule.h"

/// Differences of two schedules of a Problem, other than cycles.
///
/// The *structure* of a schedule is, first, the alternative of every op. Second, which ops share a
/// group; groups that differ only in name stand for each other. Third, if the rule `unit` is in
/// force, the *round* of any two ops on one exclusive unit: floor((M(b) - M(a)) / II). It is their
/// order on the unit, iterations counted. Streaming ops have none: rings decide how far they run
/// ahead. Slots alone, and stages of ops without a unit, are not part of the structure. Groups
/// decide which transfer ops exist, and only those that do have rounds.
namespace twill::schedule {

/// Kind of a group: warps, registers, whether it loads, and its register budget. Groups of one kind
/// differ in their names only.
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
  OpId other;            ///< of `order`
  std::int64_t is = 0;   ///< index of the alternative or of the group, or the round
  std::int64_t was = 0;  ///< as `is`, in the other schedule
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Whether the round of these two ops is part of the structure, in this schedule: both exist.
bool has_round(const problem::Problem& problem, const Schedule& schedule, OpId a, OpId b);

/// The round of `b` after `a`: b of an iteration is issued between a of `round` iterations later
/// and the a after that.
std::int64_t round_after(const Schedule& schedule, OpId a, OpId b);

/// The schedule with groups of one kind renamed, so that as many ops as possible run in the groups
/// of `model` (the largest overlap first). Precondition here and below: both are schedules of
/// `problem`.
Schedule aligned(const problem::Problem& problem, const Schedule& schedule, const Schedule& model);

/// Differences of `schedule` from `model`, with which it should be `aligned`: alternatives, then
/// groups, then rounds, each by op. Empty iff both have the same structure. Only ops that exist in
/// both schedules are compared; where a store or load exists in one of them only, groups differ.
/// Cost: pairs of ops.
std::vector<Difference> differences(const problem::Problem& problem, const Schedule& schedule,
                                    const Schedule& model);

}  // namespace twill::schedule
