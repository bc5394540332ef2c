#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/solve/at_most.h"
#include "twill/solve/budget.h"
#include "twill/solve/clauses.h"
#include "twill/solve/difference.h"
#include "twill/solve/literal.h"
#include "twill/solve/proof.h"
#include "twill/solve/variable_order.h"
#include "twill/solve/watches.h"

namespace twill::solve {

enum class Outcome {
  satisfied,  ///< there is a model: ask `value`
  refuted,    ///< there is none under the assumption
  stopped,    ///< the budget or the effort allowed ran out
};

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Largest cost of one question.
struct Effort {
  std::uint64_t conflicts = kNoLimit;
  std::uint64_t until = kNoLimit;  ///< work of the budget
};

/// Conflict-driven search over clauses, at-most constraints and difference atoms.
///
/// Incremental: variables, nodes and constraints may be added before and between calls of `solve`,
/// and learned clauses stay valid. Temporary constraints carry the negation of an assumption
/// literal.
///
///     Engine engine(proof, "title");
///     Node a = engine.add_node(), b = engine.add_node();
///     Literal late = engine.at_least({a, b, 5});           // late <=> a - b >= 5
///     engine.add_clause({late, engine.at_least({b, a, 5})});
///     if (engine.solve(kTrue, budget) == Outcome::satisfied) use(engine.value(a));
///
/// The search and its sources:
/// - conflict-driven search with an incremental interface, as in MiniSat (Een and Soerensson, "An
///   Extensible SAT-solver", SAT 2003);
/// - two watched literals and VSIDS (Moskewicz et al., "Chaff", DAC 2001);
/// - clauses of the first unique implication point (Zhang et al., "Efficient Conflict Driven
///   Learning", ICCAD 2001), minimized recursively (Soerensson and Biere, "Minimizing Learned
///   Clauses", SAT 2009);
/// - saved phases (Pipatsrisawat and Darwiche, SAT 2007) and Luby restarts;
/// - deletion of learned clauses by glue, the number of their decision levels (Audemard and Simon,
///   "Predicting Learnt Clauses Quality in Modern SAT Solvers", IJCAI 2009);
/// - counters for sums (at_most.h) and incremental longest paths for differences (difference.h).
/// Deterministic: there is no random choice.
class Engine {
 public:
  /// `proof` may be null; else it must outlive the engine.
  explicit Engine(ProofSink* proof = nullptr, std::string_view title = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Literal add_literal() { return add_literal(true); }
  /// A literal that constraints can only make true. In clauses it occurs positively only where they
  /// define it (cause -> literal), negatively only where they use it; in at-most constraints
  /// positively. So the search never decides it, and it is false where nothing made it true.
  Literal add_consequence() { return add_literal(false); }
  /// Makes the search try this literal first: a hint, no constraint.
  void suggest(Literal literal) {
    phases_[literal.variable()] = static_cast<std::int8_t>(literal.negative() ? -1 : 1);
  }
  /// If one of the two is false, the search does not decide this literal's variable, and the model
  /// leaves it undefined. The caller must not depend on its value then.
  void matters_if(Literal literal, Literal first, Literal second);
  /// Adds a node; nodes are added before all constraints and atoms on nodes.
  Node add_node() { return graph_.add_node(); }
  /// Has the nodes that follow never be compared with those before.
  void begin_block() { graph_.begin_block(); }

  /// The literal that is true iff the difference holds; the same one for the same difference.
  Literal at_least(const Difference& difference);
  /// Makes the difference hold always.
  void require(const Difference& difference);
  /// Requires that at least one of the literals is true. Repeated and constant literals are fine.
  void add_clause(std::span<const Literal> literals);
  void add_clause(std::initializer_list<Literal> literals) {
    add_clause(std::span(literals.begin(), literals.size()));
  }
  /// The sum of the terms is at most `bound`. Distinct variables (constants may repeat), positive
  /// coefficients.
  void add_at_most(std::span<const Term> terms, std::int64_t bound);

  /// Adds a clause that follows from the input, by any derivation; it may be forgotten like learned
  /// clauses. `glue` is at least 1. Precondition: no proof is written.
  void add_learned(std::span<const Literal> literals, std::uint32_t glue);
  /// Visits the learned clauses with their glue, then all literals that always hold, with 1.
  using Visit = std::function<void(std::span<const Literal>, std::uint32_t)>;
  void each_learned(const Visit& visit);
  /// Difference that the literal states; none if the literal is no atom.
  std::optional<Difference> difference_of(Literal literal) const;
  /// The strongest literal of an existing atom that is true if the difference holds.
  std::optional<Literal> implied_atom(const Difference& difference) const {
    return graph_.implied_atom(difference);
  }

  /// Searches for a model in which `assumption` is true, as far as `effort` goes.
  Outcome solve(Literal assumption, Budget& budget, const Effort& effort = {});

  /// Values in the last model. Nodes: any shift of a connected set of nodes is a model as well.
  bool value(Literal literal) const { return model_[literal.code()] > 0; }
  std::int64_t value(Node node) const { return model_potential_[node.index()]; }

  std::size_t memory() const;  ///< bytes held, estimated
  std::size_t variable_count() const { return levels_.size(); }
  std::size_t clause_count() const { return clause_count_; }

 private:
  enum class Cause : std::uint8_t { none, clause, at_most, difference, explained };

  /// Why a variable has its value. `index`: the clause; the at-most constraint; the number of edges
  /// that imply it; or where its explanation starts in `explained_`.
  struct Reason {
    Cause cause = Cause::none;
    bool from_graph = false;  ///< the difference graph implies it: no new edge needed
    std::uint32_t index = 0;
  };
  struct Level {
    std::uint32_t trail;
    std::size_t edges;
  };

  bool is_true(Literal literal) const { return values_[literal.code()] > 0; }
  bool is_false(Literal literal) const { return values_[literal.code()] < 0; }
  std::uint32_t level() const { return static_cast<std::uint32_t>(level_starts_.size()); }
  std::uint32_t trail_size() const { return static_cast<std::uint32_t>(trail_.size()); }

  // engine.cpp: constraints and propagation
  Literal add_literal(bool decided);
  void add_simplified(std::span<const Literal> literals, std::uint32_t glue);
  void attach(ClauseArena::Reference clause);
  void watch(Literal literal, const Watch& watch);
  void assign(Literal literal, Reason reason);
  bool propagate();
  bool propagate_clauses(Literal now_true);
  bool propagate_at_most(Literal now_true);
  bool propagate_difference(Literal now_true);
  bool imply(Literal literal, Reason reason);
  bool imply_from_at_most();
  bool imply_from_graph();
  void conflict_from_at_most(std::uint32_t constraint);
  void conflict_from_graph();
  void backtrack(std::uint32_t target);

  // learning.cpp: explanations, conflict analysis, the learned clauses
  std::span<const Literal> explain(std::uint32_t variable);
  void log_lemma(const Reason& reason, std::span<const Literal> literals);
  void learn_from_conflict();
  void analyze();
  void resolve(std::span<const Literal> literals, std::size_t& open);
  void minimize();
  bool is_redundant(Literal literal, int depth);
  std::uint32_t count_levels(std::span<const Literal> literals);
  void forget_learned();

  // conflict_search.cpp: decisions, restarts
  bool prepare();
  Literal pick();
  bool matters(std::uint32_t variable) const;
  void decide(Literal literal);
  void save_model();
  bool account(Budget& budget);

  ProofSink* proof_;

  /// Theories that a true literal concerns, as bits: most literals concern few.
  enum Concern : std::uint8_t { kClauses = 1, kAtMost = 2, kDifference = 4 };
  bool concerns(Literal literal, Concern whom) const { return concerns_[literal.code()] & whom; }

  // The assignment, by literal code or variable.
  std::vector<std::uint8_t> concerns_;  ///< by literal code; `kClauses` iff it has `watches_`
  std::vector<std::int8_t> values_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> levels_;
  std::vector<Reason> reasons_;
  std::vector<std::int8_t> phases_;  ///< the last value, 0 if there was none
  /// By variable, the literals for which it matters; kTrue if it always does. Also variables that
  /// were left open, with their decision level.
  std::vector<std::array<Literal, 2>> matters_if_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_open_;
  std::vector<Literal> trail_;
  std::vector<Level> level_starts_;
  std::uint32_t clause_head_ = 0;  ///< trail positions up to which each theory has seen the trail
  std::uint32_t at_most_head_ = 0;
  std::uint32_t graph_head_ = 0;

  ClauseArena clauses_;
  WatchLists watches_;  ///< by literal code: clauses that watch its negation
  AtMostStore at_most_;
  DifferenceGraph graph_;
  VariableOrder order_;

  bool inconsistent_ = false;      ///< no model under any assumption
  bool new_atoms_ = false;         ///< atoms were added that the graph may decide already
  std::vector<Literal> conflict_;  ///< a clause all of whose literals are false

  // Scratch of conflict analysis.
  enum class Mark : std::uint8_t { none, kept, redundant, needed };
  std::vector<Literal>
      explained_;  ///< each a length (as a code), then literals; emptied at level 0
  std::vector<Literal> causes_;
  std::vector<Literal> lemma_;
  std::vector<Literal> learned_;
  std::vector<Mark> marks_;            ///< by variable
  std::vector<std::uint32_t> marked_;  ///< variables whose mark must be reset
  std::vector<std::uint32_t> level_stamps_;
  std::uint32_t stamp_ = 0;

  std::size_t clause_count_ = 0;
  std::size_t watch_count_ = 0;
  std::size_t learned_count_ = 0;
  std::size_t learned_limit_ = 4000;
  std::vector<std::int8_t> model_;             ///< by literal code
  std::vector<std::int64_t> model_potential_;  ///< by node
  std::uint64_t own_work_ = 0;                 ///< watches visited
  std::uint64_t accounted_work_ = 0;
};

}  // namespace twill::solve
