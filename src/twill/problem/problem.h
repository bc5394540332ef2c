#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// Scheduling problem of one loop: the ops of one iteration, their resources and their order, for a
/// pool of warp groups. A Problem has no times; a Schedule adds them.
///
/// The exact meaning of every rule is in docs/reference/rules.md; the source is the Twill paper
/// (sections 4 and 5) with the corrections of docs/decisions/0002-semantics.md.
namespace twill::problem {

/// Exclusive functional unit: at most one op holds the unit in any cycle (tensor core, TMA queue).
struct Unit {
  std::string name;
  friend bool operator==(const Unit&, const Unit&) = default;
};

/// Shared pipe: several groups use the pipe at once, at reduced rates (MUFU, ALU, FMA, SMEM port
/// ...). A pipe has no slots: the demands of one iteration, in cycles of the whole pipe, may not
/// exceed II.
struct Pipe {
  std::string name;
  bool port = false;  ///< every instruction passes the port on its way to its own pipe (issue
                      ///< slots, register-file ports); matters only to schedule::co_run
  friend bool operator==(const Pipe&, const Pipe&) = default;
};

/// Memory of the SM that values occupy while they live (SMEM in bytes, TMEM in columns).
struct Memory {
  std::string name;
  Amount capacity = 0;  ///< at least 1; space for the values of this loop
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// Transfer: moves a value in registers from the group of `value` to the group of a reader, if the
/// groups differ. The group of `value` runs `store`; the reader's group runs its `load`:
///
///     value --> store --distance--> load --> reader
///
/// These transfer ops exist exactly if needed: a load if its reader is in another group than the
/// value, the store if a load exists. An op that does not exist has no costs. If transfer ops
/// exist, `store` and the readers in the value's own group read the value itself; readers with a
/// load do not.
///
/// `pose` makes the dependences of transfer ops from the reader's dependence on the value. First
/// value -> store (blocking if one of the value's readers is blocking) and store -> load (blocking,
/// with the distance). Then load -> reader, with read hold and in-place.
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

/// Rules of a schedule. All are in force by default; a strategy may relax some by name.
enum class Rule {
  dependence,  ///< issue(to) >= issue(from) + delay [+ transfer if crossing] - distance * II
  unit,        ///< one op at a time on an exclusive unit, modulo II
  pipe,        ///< the demands on a shared pipe sum to at most II
  memory,      ///< footprints of all live copies fit, in every cycle of the steady state
  placement,   ///< footprints fit at fixed addresses, too; not in force without `memory`
  registers,   ///< live results of a group's ops fit its registers per thread; and the needs of
               ///< each register budget's groups fit the budget
  width,       ///< an op runs in a group of exactly its width
  load_group,  ///< variable-latency ops run in a load group, and no other op does
  blocking,    ///< a blocking op is not issued while another op of its group is being issued
  one_stream,  ///< a group issues one op at a time: issue windows of one group do not overlap
};
inline constexpr int kRuleCount = 10;

/// Name of a rule as `.loop` files and reports spell it, such as "load-group".
std::string_view name_of(Rule rule);

/// Registers that groups share. Each group gets as many steps of `step` registers per thread as its
/// fullest cycle needs, with `reserve` registers added for data other than tiles. All groups
/// together get at most `total`. The registers of a group remain its own limit. Part of the rule
/// `registers`.
struct RegisterBudget {
  std::vector<GroupId> groups;  ///< two or more, ascending; in no other budget
  int total = 0;                ///< per thread of each group, summed over the groups
  int step = 1;                 ///< at least 1
  int reserve = 0;
  friend bool operator==(const RegisterBudget&, const RegisterBudget&) = default;

  std::int64_t steps() const { return total / step; }
  /// Steps that a group needs for this many registers of tile data.
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

/// Unchecked parts of a Problem, as readers and the extraction fill them in.
struct Parts {
  // Copies and destruction are defined in the source file, so that they are compiled once.
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
  int minimum_compute_groups = 1;  ///< compute groups that must have an op, as far as pool and ops
                                   ///< allow
  std::vector<std::vector<OpId>> same_group;  ///< ops that one group must run (rule `same-group`):
                                              ///< each set ascending, of two or more; disjoint
  std::vector<Transfer> transfers;            ///< each of another value
  std::vector<RegisterBudget> register_budgets;
  friend bool operator==(const Parts&, const Parts&) = default;
};

inline std::span<const Unit> Problem::units() const { return parts_->units; }
inline std::span<const Pipe> Problem::pipes() const { return parts_->pipes; }
inline std::span<const Memory> Problem::memories() const { return parts_->memories; }
inline std::span<const Rule> Problem::relaxed() const { return parts_->relaxed; }
inline std::span<const Objective> Problem::objectives() const { return parts_->objectives; }
inline int Problem::minimum_compute_groups() const { return parts_->minimum_compute_groups; }
inline std::span<const std::vector<OpId>> Problem::same_group() const { return parts_->same_group; }
inline std::span<const Transfer> Problem::transfers() const { return parts_->transfers; }
inline std::span<const RegisterBudget> Problem::register_budgets() const {
  return parts_->register_budgets;
}
inline const Parts& Problem::parts() const { return *parts_; }
inline const Unit& Problem::operator[](UnitId id) const { return parts_->units[id.index()]; }
inline const Pipe& Problem::operator[](PipeId id) const { return parts_->pipes[id.index()]; }
inline const Memory& Problem::operator[](MemoryId id) const { return parts_->memories[id.index()]; }

/// Checks the input rules listed at `Problem` and at each member, and makes the Problem. Fails with
/// a message that names the op, dependence or resource; readers of texts add the location. Cost:
/// O(ops + dependences).
Result<Problem> pose(Parts parts);

/// Whether `name` may name a loop, resource, op or alternative: a letter or '_', then letters,
/// digits, '_' and '.', at most kLongestName characters.
bool is_identifier(std::string_view name);

}  // namespace twill::problem
