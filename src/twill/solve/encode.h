#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/clause_transfer.h"
#include "twill/solve/engine.h"
#include "twill/solve/instance.h"
#include "twill/solve/symmetry.h"

namespace twill::solve {

/// Question "Is there a schedule of this instance with this II?" as constraints of an Engine.
///
/// The issue cycle of an op is M = II * s + r:
///
///     0            II           2 II          3 II
///     |------------|------------|------------|
///     .    u       .            .            .     s(u) = 0, slot r(u)
///     .            .        v   .            .     s(v) = 1, slot r(v) > r(u)
///
/// Its slot r in [0, II) and its stage s, which has no bounds, are two nodes of the difference
/// logic. Slots and stages are never compared with each other. The paper has a Boolean per op, copy
/// and cycle instead (sections 4.1 to 4.3, Figures 4 to 6; emit/smtlib/literal.cpp). An inequality
/// M(v) - M(u) >= q * II + rho, 0 <= rho < II, becomes
///
///     s(v) - s(u) >= q
///     r(v) - r(u) >= rho       or  s(v) - s(u) >= q + 1
///     r(v) - r(u) >= rho - II  or  s(v) - s(u) >= q + 2
///
/// so neither the size nor the search depends on the lengths of ops in cycles. Exclusion on units
/// and in groups concerns slots only. Memories and registers are counted at the issue of each
/// value: only there can the sum reach its maximum. Copy number j of w is alive there if s(reader)
/// - s(w) is large enough for the order of the three slots.
///
/// At most `most_copies` copies per value are counted (a quarter if many more would fit). So the
/// constraints are a relaxation: a refutation holds, but a schedule has to be checked (recheck.h).
/// If the check fails, the search is repeated with more copies.
///
/// Offsets of values in memories are left out unless `placed`: most schedules can be given offsets
/// later (place.h). A refutation without offsets also holds with offsets. With `placed`, each
/// buffer has two more nodes, its offset and its end.
///
/// Transfer ops have nodes like any other op. Their constraints are excused where they do not
/// exist, so their nodes are free there. Groups alone decide which transfer ops exist, at every II
/// alike.
///
/// Assumptions without loss of generality: the slot of one op is 0 (rotation). The slots of
/// corresponding ops of interchangeable sub-tiles are ordered. Of identical groups, a later one is
/// used only if the earlier is.
class Encoding {
 public:
  /// Preconditions: ii >= load_bound(instance); `instance` outlives the encoding. If the
  /// constraints do not fit in `memory_limit` bytes, construction ends early and `complete` is
  /// false.
  Encoding(const Instance& instance, const SubTiles& sub_tiles, Cycles ii, std::int64_t most_copies,
           std::size_t memory_limit, ProofSink* proof, std::string_view title, bool placed = false);

  bool complete() const { return complete_; }

  /// Literals whose assumption limits an objective.
  Literal groups_at_most(std::int64_t limit);
  Literal crossings_at_most(std::int64_t limit);
  Literal length_at_most(Cycles limit);
  /// Limits the objective for the rest of the search.
  void fix(Literal literal) { engine_.add_clause({literal}); }

  /// Excludes, for good, all schedules with the structure of this one (schedule/difference.h).
  /// Preconditions: the schedule obeys the rules at some II, and no proof is written.
  void rule_out(const schedule::Schedule& schedule);

  /// Leaves only schedules in which every sub-tile does the same as the first, each an equal part
  /// of the II later than the one before. Preconditions: at least three sub-tiles, and no proof is
  /// written.
  void keep_in_turn(const SubTiles& sub_tiles);

  /// Makes the search try the groups of this schedule first.
  void suggest(const schedule::Schedule& schedule);

  /// Clauses learned so far, for encodings of the same instance with a smaller or equal II.
  ClauseTransfer clause_transfer();
  /// Adds the clauses that an encoding of the same instance with a larger or equal II learned.
  /// Preconditions: that encoding excluded no structure, and no proof is written.
  void follow(const ClauseTransfer& learned);

  Outcome solve(Literal assumption, Budget& budget, const Effort& effort) {
    return engine_.solve(assumption, budget, effort);
  }

  /// Schedule of the model, after `satisfied`: alternative 0 everywhere, earliest issue cycle 0;
  /// with offsets if `placed`.
  schedule::Schedule schedule() const;

  const Engine& engine() const { return engine_; }

 private:
  using Guards = std::vector<Literal>;  ///< literals, each of which excuses a constraint

  Literal literal(const Meaning& meaning);
  Literal consequence(const Meaning& meaning);
  Literal named(Literal literal, const Meaning& meaning);
  void add_at_most(const Meaning& meaning, std::span<const Term> terms, std::int64_t bound);
  void tell_subject(const SubTiles& sub_tiles);

  bool fits() { return complete_ = complete_ && engine_.memory() <= memory_limit_; }

  // encode.cpp: times, units, groups
  void make_nodes(const SubTiles& sub_tiles);
  void add_existence();
  Guards unless_exist(std::initializer_list<std::size_t> ops, Guards guards = {}) const;
  Literal runs_in(std::size_t op, std::size_t group);
  Literal slot_apart(std::size_t later, std::size_t earlier, Cycles by);
  Literal apart(const std::vector<Node>& nodes, std::size_t later, std::size_t earlier, Cycles by);
  Literal stage_apart(std::size_t later, std::size_t earlier, Cycles by);
  void add_clause(const Guards& guards, std::initializer_list<Literal> literals);
  void require_after(std::size_t later, std::size_t earlier, Cycles by, const Guards& guards);
  void exclude(std::size_t a, Cycles hold_a, std::size_t b, Cycles hold_b, const Guards& guards);
  void add_precedences();
  void add_units();
  void add_pipes();
  void add_groups();
  void share_groups();
  void order_identical_groups();
  void require_groups();
  Literal same_group(std::size_t a, std::size_t b);
  bool may_share_group(std::size_t a, std::size_t b) const;
  void add_blocking();
  void forbid_issue_during(std::size_t waiting, std::size_t other, Literal waits);
  void add_one_stream();
  Literal waits_literal(std::size_t op);

  /// Registers that a group may hold: `registers`, less the terms that are true.
  struct Share {
    std::int64_t registers = 0;
    std::vector<Term> lacking;  ///< one term for each step of a register budget that the group may
                                ///< have
  };

  // encode_placement.cpp: offsets in memories
  struct Extent {
    Node offset;
    Node end;
  };
  void make_extents();
  void add_placement();
  void add_depth(std::size_t memory, const Buffer& buffer, const Extent& extent);
  void keep_apart(const Buffer& a, const Extent& of_a, const Buffer& b, const Extent& of_b);
  std::vector<AddressNode> address_nodes() const;
  std::vector<schedule::Address> addresses() const;

  // encode_storage.cpp: memories and registers
  Literal handed(std::size_t value, const Guards& shared, int warps);
  std::vector<Term> staged_terms(std::size_t memory);
  void add_memories();
  void add_shares();
  void add_budget(const problem::RegisterBudget& budget);
  void limit_share(std::size_t event, std::size_t group, std::int64_t largest,
                   std::vector<Term> terms);
  void add_registers();
  std::int64_t countable_copies(std::int64_t fitting) const;
  void count_copies(const Occupant& value, std::size_t event, std::int64_t capacity, Literal shared,
                    std::vector<Term>& terms);
  bool is_regular(const Accumulator& accumulator) const;
  bool in_regular_accumulator(std::size_t op) const;
  void count_accumulator(std::size_t number, std::size_t event, std::int64_t capacity,
                         std::vector<Term>& terms);
  Literal all_of(const Guards& literals, const Meaning& meaning);
  Literal copy_alive(std::size_t value, std::size_t event, std::int64_t copy, Literal shared);
  void count_read(std::size_t value, const Read& read, std::size_t event, std::int64_t copy,
                  Literal shared, Literal alive);

  void limit_register_time();
  Cycles least_extra_abroad(std::size_t value) const;
  Cycles extra_abroad(std::size_t value, const Read& read) const;
  Literal leaves_group(std::size_t value, std::size_t group);

  // encode_clause_transfer.cpp
  std::optional<Saying> saying_of(Literal literal) const;

  // encode_objectives.cpp
  Literal limit_sum(const Meaning& meaning, const std::vector<Literal>& literals);

  const Instance& instance_;
  const Cycles ii_;
  const std::int64_t most_copies_;
  const std::size_t memory_limit_;
  const bool placed_;
  ProofSink* const proof_;
  Engine engine_;
  bool complete_ = true;
  std::vector<Literal> clause_;  ///< clause under construction; kept for its memory

  std::vector<Cycles> lifetimes_;             ///< by op: least life of its value
  std::size_t anchor_ = 0;                    ///< op whose slot is 0
  std::vector<Node> slots_;                   ///< by op
  std::vector<Node> stages_;                  ///< by op
  std::vector<Node> bases_;                   ///< by memory: node of offset 0, if `placed_`
  std::vector<std::vector<Extent>> extents_;  ///< by memory, then buffer
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, Literal> alive_;  ///< if `placed_`
  std::vector<std::vector<Literal>> in_group_;          ///< by op, then group
  std::vector<Literal> exists_;                         ///< by op: kTrue except for transfer ops
  std::unordered_map<std::uint64_t, Literal> runs_in_;  ///< used for look-ups only
  std::vector<Literal> used_;                           ///< by group: true iff the group has an op
  std::vector<Literal> crossings_;  ///< one per value and receiving group; once built
  bool crossings_built_ = false;
  std::vector<Share> shares_;                          ///< by group
  std::vector<std::pair<Literal, Meaning>> meanings_;  ///< meanings of literals that are no atoms,
                                                       ///< in order
  std::unordered_map<std::uint64_t, Literal> same_group_;  ///< used for look-ups only
};

}  // namespace twill::solve
