#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "twill/problem/ops.h"

/// Requirements of a Problem, one at a time: the vocabulary of explanations.
namespace twill::explain {

/// Kind of a requirement. Each requirement can be dropped on its own. Dropping loses no schedule: a
/// Problem with fewer requirements has all schedules of a Problem with more.
enum class Kind {
  minimum_groups,  ///< enough compute groups must have an op
  width,           ///< the rule `width`
  load_group,      ///< the rule `load-group`
  same_group,      ///< one group runs some ops together
  group_count,     ///< the pool has no more groups of a class (schedule::pool_classes)
  register_limit,  ///< the groups of a class have no more registers
  budget,          ///< groups that share a register budget stay within the budget
  registers,       ///< the result of an op takes registers, and a reading group waits for the
                   ///< result
  footprint,       ///< the result of an op takes space in a memory
  transfer_costs,  ///< the store and the loads of a transfer have costs
  transfer,        ///< a dependence takes longer between groups
  wait,            ///< the reader of a dependence waits on a barrier
  issue,           ///< an op keeps its group issuing
  demand,          ///< an op takes a part of a shared pipe
  hold,            ///< an op holds its exclusive unit
  dependence,      ///< a dependence: its delay, the life of the value until the read, and the
                   ///< transfer with its load, if there is one
};
inline constexpr int kKindCount = 15;

struct Requirement {
  Kind kind = Kind::dependence;
  std::size_t index = 0;  ///< op, dependence, class, set, budget or transfer
  std::size_t other = 0;  ///< pipe or memory of a demand or footprint
  friend auto operator<=>(const Requirement&, const Requirement&) = default;
};

/// All requirements, by kind, then index: rules in force and numbers that are not zero. Costs of
/// transfer ops belong to their transfer. Dependences of transfer ops belong to the dependences
/// from which they follow.
std::vector<Requirement> requirements_of(const problem::Problem& problem);

/// Makes the Problem without these requirements and without objectives. Ops, units, pipes, memories
/// and classes keep their ids (dependences do not).
problem::Problem without(const problem::Problem& problem, std::span<const Requirement> dropped);

/// Makes the Problem with these of its requirements only.
problem::Problem only(const problem::Problem& problem, std::span<const Requirement> kept);

/// Adds `more` groups to `parts`, each like the group with the most registers in the class of
/// `groups`; never more than a loop may have. The number of compute groups that must have an op
/// stays.
void add_groups(problem::Parts& parts, std::span<const problem::GroupId> groups, std::size_t more);

/// Makes a Problem of Parts whose changes keep a Problem well-formed.
problem::Problem posed(problem::Parts parts);

/// Takes the rule out of force.
void relax(problem::Parts& parts, problem::Rule rule);

}  // namespace twill::explain
