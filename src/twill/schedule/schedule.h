#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::problem {
struct Residual;  // problem/transfer.h
}

/// Issue cycle and group of each op of a Problem, and claims about a schedule. A Schedule promises
/// nothing: `verify` decides whether it obeys the rules of its Problem.
namespace twill::schedule {

using problem::GroupId;
using problem::MemoryId;
using problem::OpId;

struct Placement {
  Cycles issue = 0;  ///< issue cycle in iteration 0; stage * II + slot
  GroupId group;
  int alternative = 0;  ///< index into Op::alternatives
  bool exists = true;   ///< false: a transfer op that is not needed; it has the issue cycle and
                        ///< group of its op
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Address of a value's copies in a memory: next to each other, from `offset` on (rule
/// `placement`).
struct Address {
  OpId value;
  MemoryId memory;
  Amount offset = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

/// Order of addresses: by value, then memory.
bool comes_before(const Address& a, const Address& b);

struct Schedule {
  Cycles initiation_interval = 1;
  std::vector<Placement> ops;           ///< by OpId
  std::vector<Address> addresses = {};  ///< by op, then memory; empty if none are stated
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Offset of the value in the memory, if the schedule states it. Cost: O(addresses).
std::optional<Amount> offset_of(const Schedule& schedule, OpId value, MemoryId memory);

/// Group of each op, by OpId.
std::vector<GroupId> groups_of(const Schedule& schedule);

/// Translates a schedule of a Problem with transfer ops to its residual problem (transfer.h), and
/// back. Precondition: sizes match.
Schedule in_residual(const problem::Residual& to, const Schedule& schedule);
Schedule completed(const problem::Problem& problem, const problem::Residual& from,
                   const Schedule& schedule);
/// Moves transfer ops that do not exist to the place of their op.
Schedule at_home(const problem::Problem& problem, Schedule schedule);
/// Marks transfer ops as existing exactly where the groups need them.
Schedule with_existence(const problem::Problem& problem, Schedule schedule);

/// floor(issue / II) and issue mod II (issue cycles are not negative).
Cycles stage_of(const Schedule& schedule, OpId op);
Cycles slot_of(const Schedule& schedule, OpId op);

/// L: cycles from cycle 0 to the end of the last span. Precondition: sizes match the Problem.
Cycles length_of(const problem::Problem& problem, const Schedule& schedule);
/// Iterations in flight: ceil(L / II).
Cycles stage_count(const problem::Problem& problem, const Schedule& schedule);

/// Origin of a lower bound on II.
enum class BoundKind {
  unit,     ///< sum of the occupancies on one exclusive unit
  pipe,     ///< sum of the demands on one shared pipe
  circuit,  ///< a circuit of dependences: ceil(sum of delays / sum of distances)
  op,       ///< cycles that one op alone holds its unit or its group
  issue,    ///< issue cycles of the ops that only some groups can take, spread over those groups
  search,   ///< every smaller II was refuted by exhaustive search (no schedule at value - 1)
  trivial,  ///< II is at least 1
};
std::string_view name_of(BoundKind kind);

/// Claim "no schedule has a smaller II than `value`", with the reason.
struct Bound {
  Cycles value = 1;
  BoundKind kind = BoundKind::trivial;
  std::string resource;   ///< name of the unit or pipe, if that is the reason
  std::vector<OpId> ops;  ///< ops of the sum, or the circuit in order
  std::string witness;    ///< reason as one readable line
};

/// Alternative by which that schedule carries out the op.
inline const problem::Alternative& alternative_of(const problem::Problem& problem,
                                                  const Schedule& schedule, OpId op) {
  return problem[op].alternatives[static_cast<std::size_t>(schedule.ops[op.index()].alternative)];
}

enum class Verdict {
  optimal,     ///< the schedule is best in every objective, each level proven
  feasible,    ///< a schedule and a proven bound below its II; the work limit ended the search
  infeasible,  ///< no schedule at any II; `argument` says why
  undecided,   ///< neither a schedule nor a proof within the work limit
};
std::string_view name_of(Verdict verdict);

/// One level of the lexicographic optimum ("initiation_interval", "groups", "crossings", "length").
struct ObjectiveValue {
  std::string name;
  std::int64_t value = 0;
  std::int64_t bound = 0;  ///< proven lower bound given the levels before; equals value if proven
  bool proven = false;
};

/// Claims of a solver about one Problem. Immutable once returned.
struct Answer {
  Verdict verdict = Verdict::undecided;
  std::optional<Schedule> schedule;        ///< for optimal and feasible
  Bound lower_bound;                       ///< on II, whatever the verdict
  std::vector<ObjectiveValue> objectives;  ///< II first, then the Problem's order
  std::string argument;                    ///< for infeasible and undecided: the reason, in a
                                           ///< sentence
  std::uint64_t work = 0;                  ///< deterministic work units spent
  std::uint64_t conflicts = 0;             ///< conflicts of the search, all solves together
};

}  // namespace twill::schedule
