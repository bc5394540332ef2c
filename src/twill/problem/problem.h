#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// The scheduling problem of one loop: what is to be done in one iteration, on what, in which
/// order, by a pool of warp groups. A Problem says nothing about when: that is a Schedule.
///
/// The exact meaning of every rule is in docs/reference/rules.md; the source is the Twill paper
/// (sections 4 and 5) with the corrections of docs/decisions/0002-semantics.md.
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

/// An exclusive functional unit: at most one op holds it in any cycle (tensor core, TMA queue).
struct Unit {
  std::string name;
  friend bool operator==(const Unit&, const Unit&) = default;
};

/// A shared pipe: several groups use it at once, at reduced rates (MUFU, ALU, FMA, SMEM port ...).
/// It has no slots: the demands of one iteration, in cycles of the whole pipe, may not exceed II.
struct Pipe {
  std::string name;
  bool port = false;  ///< every instruction passes it on its way to its own pipe (issue slots,
                      ///< register-file ports); matters only to schedule::co_run
  friend bool operator==(const Pipe&, const Pipe&) = default;
};

/// A memory of the SM that values occupy while they live (SMEM in bytes, TMEM in columns).
struct Memory {
  std::string name;
  Amount capacity = 0;  ///< at least 1; space for the values of this loop
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// A warp group of the pool. It may stay unused.
struct Group {
  std::string name;
  int warps = 4;       ///< width; at least 1
  int registers = 0;   ///< per thread, usable for tile data
  bool loads = false;  ///< the load group: it takes the variable-latency ops, and only those
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

/// An alternative of an op: one way to carry it out. Most ops have one; with several (exp2 on MUFU
/// or as a polynomial on FMA, ...), a schedule picks one per op.
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
  int warps = 4;                          ///< width: the rule `width` wants a group of exactly this
  int registers = 0;                      ///< per thread, of the result while it lives
  std::vector<Footprint> footprint;       ///< of the result while it lives
  bool asynchronous = false;              ///< the result comes without the issuing warps' help
  bool variable_latency = false;          ///< belongs to the load group (rule `load-group`)
  bool streaming = false;           ///< variable latency, no inputs in the loop: loads run ahead
                                    ///< by the depth of their ring, and delay no op
  std::vector<std::string> source;  ///< what it stands for, "name @ line:column" or free text
  friend bool operator==(const Op&, const Op&) = default;
};

/// `to` of iteration i needs `from` of iteration i - distance.
struct Dependence {
  OpId from;
  OpId to;
  int distance = 0;                 ///< iterations; a cycle must have a positive sum
  std::optional<Cycles> delay;      ///< issue to issue; default: latency of `from`, 0 if streaming
  bool blocking = false;            ///< `to` waits on a barrier or counter for it
  bool carries_value = true;        ///< false: pure ordering, keeps nothing alive
  std::optional<Cycles> read_hold;  ///< cycles after the issue of `to` during which it still reads
                                    ///< the value; default: 0 if `to` is synchronous or updates
                                    ///< in place, else the latency of `to`
  bool in_place = false;            ///< `to` overwrites the value: both are one buffer
  Cycles transfer = 0;              ///< added to the delay if the two ops are in different groups
  bool through_memory = false;      ///< an order of accesses to global memory: those of `from`
                                    ///< are complete and visible to `to`; carries no value
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

/// A transfer: moves a value in registers from the group of `value` to that of a reader, if they
/// differ. The group of `value` runs `store`, the group of the reader runs its `load`. These
/// transfer ops exist exactly if needed: a load if its reader is in another group than the value,
/// the store with a load. An op that does not exist has no costs. If they exist, the value itself
/// is read by `store`, and by readers of its own group, but not by readers with a load.
///
/// `pose` makes the dependences of these ops from the reader's dependence on the value. First value
/// -> store (blocking if one of the value's readers is) and store -> load (blocking, with the
/// distance). Then load -> reader, with read hold and in-place.
struct Transfer {
  struct Load {
    OpId op;
    OpId reader;
    friend bool operator==(const Load&, const Load&) = default;
  };
  OpId value;
  OpId store;
  std::vector<Load> loads;  ///< at least one, each reader once
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// The rules a schedule obeys. All are in force by default; a strategy may relax some by name.
enum class Rule {
  dependence,  ///< issue(to) >= issue(from) + delay [+ transfer if crossing] - distance * II
  unit,        ///< one op at a time on an exclusive unit, modulo II
  pipe,        ///< the demands on a shared pipe sum to at most II
  memory,      ///< footprints of all live copies fit, in every cycle of the steady state
  placement,   ///< footprints fit at fixed addresses, too; not in force without `memory`
  registers,   ///< live results of a group's ops fit its registers per thread; and the needs of
               ///< each register budget's groups fit the budget
  width,       ///< an op runs in a group of exactly its width
  load_group,  ///< variable-latency ops run in a load group, and nothing else does
  blocking,    ///< a blocking op is not issued while another op of its group is being issued
  one_stream,  ///< a group issues one op at a time: issue windows of one group do not overlap
};
inline constexpr int kRuleCount = 10;

/// "load-group" and so on, as `.loop` files and reports spell it.
std::string_view name_of(Rule rule);

/// Registers that groups share. Each group gets as many steps of `step` registers per thread as its
/// fullest cycle needs, with `reserve` more for other data than tiles. All groups together get at
/// most `total`. The registers of a group remain its own limit. Part of the rule `registers`.
struct RegisterBudget {
  std::vector<GroupId> groups;  ///< two or more, ascending; in no other budget
  int total = 0;                ///< per thread of each group, summed over the groups
  int step = 1;                 ///< at least 1
  int reserve = 0;
  friend bool operator==(const RegisterBudget&, const RegisterBudget&) = default;

  std::int64_t steps() const { return total / step; }
  /// Steps of a group with that much tile data.
  std::int64_t steps_for(std::int64_t registers) const {
    return (registers + reserve + step - 1) / step;
  }
};

/// Quantities that are minimized after II, in the order the Problem lists them.
enum class Objective {
  groups,     ///< groups of the pool that have an op
  crossings,  ///< register values sent to another group, counted once per receiving group
  length,     ///< schedule length L: from the first issue to the end of the last occupancy
};
std::string_view name_of(Objective objective);
std::optional<Objective> objective_named(std::string_view name);

/// The unchecked parts of a Problem: what readers and the extraction fill in.
struct Parts {
  // Defined in the source file, so that they are compiled once.
  Parts();
  Parts(const Parts&);
  Parts(Parts&&) noexcept;
  Parts& operator=(const Parts&);
  Parts& operator=(Parts&&) noexcept;
  ~Parts();

  std::string name;
  std::vector<Unit> units;
  std::vector<Pipe> pipes;
  std::vector<Memory> memories;
  std::vector<Group> groups;
  std::vector<Op> ops;
  std::vector<Dependence> dependences;
  std::vector<Rule> relaxed;  ///< rules not in force; sorted, each once
  std::vector<Objective> objectives = {Objective::groups, Objective::crossings, Objective::length};
  int minimum_compute_groups = 1;  ///< groups without `loads` that must have an op, as far as
                                   ///< the pool and the ops allow
  std::vector<std::vector<OpId>> same_group;  ///< ops that one group must run (rule `same-group`):
                                              ///< each set ascending, of two or more; disjoint
  std::vector<Transfer> transfers;            ///< of different values
  std::vector<RegisterBudget> register_budgets;
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// A well-formed scheduling problem. Immutable. Only `pose` makes one, so these hold: ids in range,
/// names unique and spelled as identifiers. Numbers are non-negative, and small enough that sums
/// over all ops cannot overflow. No circuit has distance zero. Copies share their parts, so they
/// cost nothing.
class Problem {
 public:
  Problem(const Problem&) = default;  // no move, which would leave a Problem without parts
  Problem& operator=(const Problem&) = default;

  const std::string& name() const { return parts_->name; }
  std::span<const Unit> units() const { return parts_->units; }
  std::span<const Pipe> pipes() const { return parts_->pipes; }
  std::span<const Memory> memories() const { return parts_->memories; }
  std::span<const Group> groups() const { return parts_->groups; }
  std::span<const Op> ops() const { return parts_->ops; }
  std::span<const Dependence> dependences() const { return parts_->dependences; }
  std::span<const Rule> relaxed() const { return parts_->relaxed; }
  std::span<const Objective> objectives() const { return parts_->objectives; }
  int minimum_compute_groups() const { return parts_->minimum_compute_groups; }
  std::span<const std::vector<OpId>> same_group() const { return parts_->same_group; }
  std::span<const Transfer> transfers() const { return parts_->transfers; }
  std::span<const RegisterBudget> register_budgets() const { return parts_->register_budgets; }
  const Parts& parts() const { return *parts_; }

  const Unit& operator[](UnitId id) const { return parts_->units[id.index()]; }
  const Pipe& operator[](PipeId id) const { return parts_->pipes[id.index()]; }
  const Memory& operator[](MemoryId id) const { return parts_->memories[id.index()]; }
  const Group& operator[](GroupId id) const { return parts_->groups[id.index()]; }
  const Op& operator[](OpId id) const { return parts_->ops[id.index()]; }
  const Dependence& operator[](DependenceId id) const { return parts_->dependences[id.index()]; }

  bool in_force(Rule rule) const;
  /// The register budget that the group has a share in. Cost: O(groups).
  std::optional<std::size_t> budget_of(GroupId group) const;

  friend bool operator==(const Problem& one, const Problem& other) {
    return one.parts_ == other.parts_ || *one.parts_ == *other.parts_;
  }

 private:
  friend Result<Problem> pose(Parts parts);
  explicit Problem(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}
  std::shared_ptr<const Parts> parts_;
};

/// Checks the input rules listed at `Problem` and at each member, and makes the Problem.
/// Fails with a message that names the op, dependence or resource, without a location, which
/// readers add. Cost: O(ops + dependences).
Result<Problem> pose(Parts parts);

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

/// Whether `name` may name a loop, resource, op or alternative: a letter or '_', then letters,
/// digits, '_' and '.', at most kLongestName characters.
bool is_identifier(std::string_view name);

/// The numbers of one dependence once the alternatives of its two ops are chosen (defaults filled
/// in).
Cycles delay_of(const Dependence& dependence, const Op& from, const Alternative& from_alternative);
Cycles read_hold_of(const Dependence& dependence, const Op& to, const Alternative& to_alternative);

/// The cycles of an op that count for the length of a schedule: max(occupancy, issue, 1).
Cycles span_of(const Alternative& alternative);

}  // namespace twill::problem
