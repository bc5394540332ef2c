#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// Ops of a loop, their dependences and the warp groups that run them, with the class Problem:
/// enough for code that carries out a schedule. Units, memories, rules and objectives are in
/// problem/problem.h. The exact meaning of every rule is in docs/reference/rules.md.
namespace twill::problem {

struct UnitTag;
struct PipeTag;
struct MemoryTag;
struct GroupTag;
struct OpTag;
struct DependenceTag;
using UnitId = Id<UnitTag>;
using PipeId = Id<PipeTag>;
using MemoryId = Id<MemoryTag>;
using GroupId = Id<GroupTag>;
using OpId = Id<OpTag>;
using DependenceId = Id<DependenceTag>;

struct Unit;
struct Pipe;
struct Memory;
struct Transfer;
struct RegisterBudget;
struct Parts;
enum class Rule;
enum class Objective;

/// Warp group of the pool. A schedule may leave a group unused.
struct Group {
  std::string name;
  int warps = 4;       ///< width; at least 1
  int registers = 0;   ///< per thread, usable for tile data
  bool loads = false;  ///< load group: runs the variable-latency ops, and no other op
  friend bool operator==(const Group&, const Group&) = default;
};

struct PipeUse {
  PipeId pipe;
  Cycles demand = 0;  ///< cycles of the whole pipe per execution
  friend bool operator==(const PipeUse&, const PipeUse&) = default;
};

struct Footprint {
  MemoryId memory;
  Amount amount = 0;
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

/// Alternative of an op: one way to carry the op out. Most ops have a single alternative. Of
/// several (exp2 on MUFU, or as a polynomial on FMA), a schedule picks one for each op.
struct Alternative {
  std::string name;            ///< empty if it is the only alternative
  std::optional<UnitId> unit;  ///< exclusive unit held from issue, if any
  Cycles occupancy = 0;        ///< cycles the unit is held, contiguous from issue; 0 iff no unit
  Cycles latency = 0;          ///< cycles from issue to the result
  Cycles issue = 0;            ///< cycles from issue during which the issuing warps are held
  std::vector<PipeUse> pipes;  ///< demands on shared pipes, by ascending pipe, each once
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

/// A tile operation of one iteration.
struct Op {
  std::string name;
  std::vector<Alternative> alternatives;  ///< at least one
  int warps = 4;                          ///< width: warps of the group that runs the op (rule
                                          ///< `width`)
  int registers = 0;                      ///< per thread, of the result while it lives
  std::vector<Footprint> footprint;       ///< of the result while it lives
  bool asynchronous = false;              ///< the issuing warps need not do anything more until the
                                          ///< result
  bool variable_latency = false;          ///< belongs to the load group (rule `load-group`)
  bool streaming = false;           ///< variable-latency op without inputs in the loop: runs ahead
                                    ///< by the depth of its ring, and delays no op
  std::vector<std::string> source;  ///< tile operations of the op: "name @ line:column", or free
                                    ///< text
  friend bool operator==(const Op&, const Op&) = default;
};

/// Dependence: op `to` of iteration i needs op `from` of iteration i - distance.
struct Dependence {
  OpId from;
  OpId to;
  int distance = 0;                 ///< iterations; positive in sum along every circuit
  std::optional<Cycles> delay;      ///< issue to issue; default: latency of `from`, 0 if streaming
  bool blocking = false;            ///< `to` waits for `from` on a barrier or counter
  bool carries_value = true;        ///< false: an order only, which keeps no value alive
  std::optional<Cycles> read_hold;  ///< cycles after its issue during which `to` still reads the
                                    ///< value; default: 0 if `to` is synchronous or updates in
                                    ///< place, else the latency of `to`
  bool in_place = false;            ///< `to` overwrites the value: both values are one buffer
  Cycles transfer = 0;              ///< added to the delay if the two ops are in different groups
  bool through_memory = false;      ///< order of accesses to global memory: accesses of `from` are
                                    ///< complete and visible to `to`; carries no value
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

/// Numbers of a dependence with defaults filled in, once alternatives are chosen for both ops.
Cycles delay_of(const Dependence& dependence, const Op& from, const Alternative& from_alternative);
Cycles read_hold_of(const Dependence& dependence, const Op& to, const Alternative& to_alternative);

/// Cycles of an op that count for the length of a schedule: max(occupancy, issue, 1).
Cycles span_of(const Alternative& alternative);

/// The largest number accepted for a duration, capacity, register count, distance or footprint.
inline constexpr std::int64_t kLargestNumber = 1'000'000'000;
/// The largest dependence distance, in iterations.
inline constexpr int kLargestDistance = 1'000;
/// The largest sum of all durations of a loop (occupancies, latencies, issue cycles, demands,
/// delays, read holds, transfers). With it, an II of that size times the distances along any path
/// still fits in 64 bits.
inline constexpr Cycles kLargestTotal = 100'000'000'000;
/// The largest number of ops, and a tenth of the largest number of dependences.
inline constexpr std::size_t kMostOps = 10'000;
/// The largest number of units, pipes, memories or groups of one loop, and of alternatives of one
/// op.
inline constexpr std::size_t kMostOfAKind = 64;
/// The most steps of a register budget.
inline constexpr std::int64_t kMostRegisterSteps = 1'024;
/// The longest name, in characters.
inline constexpr std::size_t kLongestName = 200;

/// Well-formed scheduling problem; immutable. Only `pose` makes Problems, so every Problem has
/// these properties: ids are in range, names are unique and spelled as identifiers. Numbers are
/// non-negative, and so small that sums over all ops cannot overflow. No circuit has distance zero.
/// Copies share their parts, so they cost nothing. Functions that are declared `inline` are in
/// problem/problem.h.
class Problem {
 public:
  Problem(const Problem&) = default;  // no move: a move would leave a Problem without parts
  Problem& operator=(const Problem&) = default;

  const std::string& name() const;
  inline std::span<const Unit> units() const;
  inline std::span<const Pipe> pipes() const;
  inline std::span<const Memory> memories() const;
  std::span<const Group> groups() const { return groups_; }
  std::span<const Op> ops() const { return ops_; }
  std::span<const Dependence> dependences() const { return dependences_; }
  inline std::span<const Rule> relaxed() const;
  inline std::span<const Objective> objectives() const;
  inline int minimum_compute_groups() const;
  inline std::span<const std::vector<OpId>> same_group() const;
  inline std::span<const Transfer> transfers() const;
  inline std::span<const RegisterBudget> register_budgets() const;
  inline const Parts& parts() const;

  inline const Unit& operator[](UnitId id) const;
  inline const Pipe& operator[](PipeId id) const;
  inline const Memory& operator[](MemoryId id) const;
  const Group& operator[](GroupId id) const { return groups_[id.index()]; }
  const Op& operator[](OpId id) const { return ops_[id.index()]; }
  const Dependence& operator[](DependenceId id) const { return dependences_[id.index()]; }

  bool in_force(Rule rule) const;
  /// Index of the register budget that contains the group. Cost: O(groups).
  std::optional<std::size_t> budget_of(GroupId group) const;

  friend bool operator==(const Problem& one, const Problem& other);

 private:
  friend Result<Problem> pose(Parts parts);
  explicit Problem(Parts parts);

  std::shared_ptr<const Parts> parts_;
  std::span<const Op> ops_;  ///< views into `parts_`, as are the two below
  std::span<const Dependence> dependences_;
  std::span<const Group> groups_;
};

}  // namespace twill::problem
