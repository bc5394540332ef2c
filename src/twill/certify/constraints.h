#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "twill/certify/differences.h"
#include "twill/certify/facts.h"
#include "twill/certify/proof.h"
#include "twill/certify/unit_propagation.h"

namespace twill::certify {

/// Constraints on every schedule of a Problem with a given II: clauses, differences and sums over
/// predicates. They are made from the Problem alone; a proof only names predicates. The page
/// docs/reference/certificate.md lists all constraints, each with its argument.
class Constraints {
 public:
  /// Preconditions: the arguments outlive the object, and every op has one alternative.
  Constraints(const problem::Problem& problem, const Subject& subject, UnitPropagation& clauses);
  Constraints(const Constraints&) = delete;
  Constraints& operator=(const Constraints&) = delete;

  /// First assumption of the subject that the Problem does not justify; empty if there is none.
  /// With an objection, no other function may be called.
  const std::string& objection() const { return objection_; }

  /// Literal of a variable; adds its defining clauses.
  Literal literal(const Predicate& variable);

  /// Meanings of the variables, from variable 1 on.
  std::span<const Predicate> predicates() const { return predicates_; }

  /// Whether these literals, all differences, contradict each other; false if one is no difference.
  bool close_circuit(std::span<const Literal> literals) const;

  /// Whether the true literals overflow a sum. Then `causes` are true literals that suffice.
  bool overflows(const Predicate& sum, std::vector<Literal>& causes) const;

  /// Whether units, pipes or differences alone leave no schedule.
  bool nothing_fits() const { return nothing_fits_ || slots_.contradict() || stages_.contradict(); }

 private:
  using Guards = std::vector<Literal>;  ///< true if one of them is true: the clause is excused
  struct Hash {
    std::size_t operator()(const Predicate& it) const noexcept;
  };
  /// Difference between slots, stages, or addresses of a memory.
  struct Atom {
    const Differences* among = nullptr;
    Difference difference;
  };
  using Copies = std::vector<std::pair<std::int64_t, Literal>>;

  // constraints.cpp: times, units, groups
  void add_slots();
  void add_edges();
  void add_units();
  void add_groups();
  void share_groups();
  void order_equal_groups();
  void add_blocking();
  void add_one_stream();
  void forbid_too_long();
  Literal exists(std::size_t op);
  Guards missing(std::initializer_list<std::size_t> ops, Guards guards = {});
  Literal add_variable(const Predicate& variable);
  Literal slot(std::size_t later, std::size_t earlier, Cycles by);
  Literal stage(std::size_t later, std::size_t earlier, Cycles by);
  Literal atom(bool is_slot, std::size_t later, std::size_t earlier, Cycles by);
  Literal declare(const Predicate& variable, const Differences& among, const Difference& says);
  void clause(const Guards& guards, std::initializer_list<Literal> literals);
  void after(std::size_t later, std::size_t earlier, Cycles by, const Guards& guards);
  void apart(std::size_t a, Cycles hold_a, std::size_t b, Cycles hold_b, const Guards& guards);

  /// Steps that a group of a register budget may need, at least and at most.
  struct StepRange {
    const problem::RegisterBudget* budget = nullptr;  ///< null: the group has no budget
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  StepRange steps_of(std::size_t group) const;

  // Knowledge about a variable, and the clauses that define it (predicates.cpp).
  std::optional<bool> decide(Predicate& variable) const;
  std::optional<bool> decide_waits(std::size_t op) const;
  std::optional<bool> decide_steps(std::size_t group, std::int64_t steps) const;
  std::optional<bool> decide_together(const Predicate& variable) const;
  std::optional<bool> decide_gathered(const Predicate& variable) const;
  bool must_share(std::size_t a, std::size_t b) const;
  std::optional<std::pair<std::size_t, std::size_t>> only_move(std::size_t op) const;
  bool ever_exists(std::size_t op) const;
  std::optional<Literal> known(Predicate variable) const;
  void define(const Predicate& variable, Literal is);
  void define_same(const Predicate& variable, Literal is);
  void define_waits(std::size_t op, Literal is);
  void define_all(const std::vector<Literal>& literals, Literal is);
  void define_together(const Predicate& variable, Literal is);
  void define_gathered(const Predicate& variable, Literal is);
  void define_before(const Predicate& variable, Literal is);
  void define_counts(const Predicate& variable, Literal is);
  void define_leaves(const Predicate& variable, Literal is);
  void define_crosses(const Predicate& variable, Literal is);
  void define_handed(const Predicate& variable, Literal is);
  void define_exists(std::size_t op, Literal is);
  void define_length(Cycles limit, Literal is);
  void define_alive(const Predicate& variable, Literal is);
  void alive_by(const Reading& reading, const Predicate& variable, const Guards& guards);

  // addresses.cpp: offsets of buffers
  std::optional<bool> decide_address(Predicate& variable) const;
  Literal address(const Predicate& variable);
  const Differences& addresses_in(std::size_t memory);
  std::size_t number_of(const BufferFacts& buffer, std::size_t memory) const;
  void define_deep(const Predicate& variable, Literal is);
  void define_above(const Predicate& variable, Literal is);
  Literal lives(std::size_t value, std::size_t event);
  bool depth_overflows(std::size_t event, std::size_t memory, std::vector<Literal>& causes) const;

  // sums.cpp
  bool is_true(const Predicate& variable, std::vector<Literal>& causes) const;
  std::int64_t copies_of(std::size_t value, std::size_t event, bool by_group,
                         std::vector<Literal>& causes) const;
  bool pipe_overflows(std::size_t pipe, std::vector<Literal>& causes) const;
  bool memory_overflows(std::size_t memory, std::size_t event, std::vector<Literal>& causes) const;
  std::int64_t handed_over(std::int64_t most, std::vector<Literal>& causes) const;
  std::int64_t registers_of(std::size_t group, std::vector<Literal>& causes) const;
  bool budget_overflows(std::size_t group, std::vector<Literal>& causes) const;
  bool registers_overflow(std::size_t event, std::vector<Literal>& causes) const;
  std::int64_t accumulated_copies(std::size_t accumulator, std::size_t event,
                                  std::vector<Literal>& causes) const;
  bool issue_overflows(std::size_t group, std::vector<Literal>& causes) const;
  bool register_time_overflows(std::size_t group, std::vector<Literal>& causes) const;
  bool too_few_groups(std::vector<Literal>& causes) const;
  bool limit_overflows(const Predicate& limit, std::vector<Literal>& causes) const;
  bool longer_abroad(std::size_t value, const Reading& reading) const;
  Cycles longer_abroad(std::size_t value) const;
  bool is_value(std::size_t op) const {
    return facts_.ops[op].registers > 0 && !facts_.readings[op].empty();
  }

  const problem::Problem& problem_;
  const Subject& subject_;
  UnitPropagation& clauses_;
  Facts facts_;
  std::string objection_;
  Cycles ii_;
  std::size_t n_;
  bool nothing_fits_ = false;
  std::vector<Cycles> lives_;  ///< least life of each value, by op
  Differences slots_;
  Differences stages_;
  std::map<std::size_t, Differences> addresses_;  ///< by memory, made on first use
  std::vector<Cycles> rounds_;                    ///< of each accumulator: iterations around it
  std::vector<std::uint8_t> gathered_;            ///< by op: whether it belongs to an accumulator
  std::unordered_map<Predicate, Literal, Hash> literals_;        ///< used for look-ups only
  std::map<std::pair<std::size_t, std::size_t>, Copies> alive_;  ///< by value and event
  std::map<std::pair<std::size_t, std::size_t>, Copies> held_;
  std::vector<Predicate> crosses_;
  std::vector<Predicate> predicates_;
  std::vector<std::optional<Atom>> atoms_;  ///< by variable
};

}  // namespace twill::certify
