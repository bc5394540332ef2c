#include <algorithm>
#include <utility>

#include "twill/solve/engine.h"

/// Engine: learning from conflicts.
namespace twill::solve {
namespace {

/// Longest chain of reasons that is followed when a learned clause is shortened.
constexpr int kDeepest = 60;

/// Most decision levels of a learned clause that is kept for good.
constexpr std::uint32_t kGoodGlue = 2;

}  // namespace

/// Literals, all false, that implied the value of `variable`. Reasons of the theories are computed
/// on demand, and kept until the next return to level 0.
std::span<const Literal> Engine::explain(std::uint32_t variable) {
  Reason& reason = reasons_[variable];
  if (reason.cause == Cause::clause) {
    const std::span<Literal> literals = clauses_.literals(reason.index);
    if (literals[0].variable() != variable)
      std::swap(literals[0], literals[1]);  // a clause of two literals
    return literals.subspan(1);
  }
  if (reason.cause != Cause::explained) {
    const Literal literal(variable, values_[2 * variable] < 0);
    causes_.clear();
    if (reason.cause == Cause::at_most) {
      at_most_.explain(reason.index, literal, positions_[variable], causes_);
    } else {
      graph_.explain(literal, reason.index, causes_);
    }
    lemma_.assign(1, literal);
    for (const Literal cause : causes_) lemma_.push_back(~cause);
    log_lemma(reason, lemma_);
    reason.cause = Cause::explained;
    reason.index = static_cast<std::uint32_t>(explained_.size());
    explained_.push_back(Literal::from_code(static_cast<std::uint32_t>(causes_.size())));
    explained_.insert(explained_.end(), lemma_.begin() + 1, lemma_.end());
  }
  return std::span(explained_).subspan(reason.index + 1, explained_[reason.index].code());
}

void Engine::log_lemma(const Reason& reason, std::span<const Literal> literals) {
  if (proof_ == nullptr) return;
  if (reason.cause == Cause::at_most) {
    proof_->at_most_lemma(reason.index, literals);
  } else {
    proof_->difference_lemma(literals);
  }
}

/// Turns `conflict_` into a clause with a single literal of its highest level, the first unique
/// implication point. Returns to the level at which that literal is implied, and assigns it.
void Engine::learn_from_conflict() {
  std::uint32_t highest = 0;
  for (const Literal literal : conflict_) {
    highest = std::max(highest, levels_[literal.variable()]);
  }
  backtrack(highest);
  if (highest == 0) {
    inconsistent_ = true;
    return;
  }
  analyze();
  minimize();
  for (const std::uint32_t variable : marked_) marks_[variable] = Mark::none;
  marked_.clear();
  if (proof_ != nullptr) proof_->learned(learned_);
  order_.decay();
  if (learned_.size() == 1) {
    backtrack(0);
    assign(learned_[0], {});
    return;
  }
  const auto by_level = [this](Literal a, Literal b) {
    return levels_[a.variable()] < levels_[b.variable()];
  };
  std::iter_swap(learned_.begin() + 1,
                 std::max_element(learned_.begin() + 1, learned_.end(), by_level));
  const std::uint32_t glue = count_levels(learned_);
  backtrack(levels_[learned_[1].variable()]);
  const ClauseArena::Reference clause = clauses_.add(learned_, glue);
  attach(clause);
  ++learned_count_;
  assign(learned_[0], {Cause::clause, false, clause});
}

void Engine::analyze() {
  learned_.assign(1, kTrue);
  std::size_t open = 0;  // marked variables of the current level that remain to be resolved
  resolve(conflict_, open);
  std::uint32_t at = trail_size();
  while (true) {
    do {
      --at;
    } while (marks_[trail_[at].variable()] == Mark::none);
    const Literal literal = trail_[at];
    if (levels_[literal.variable()] != level()) continue;
    if (--open == 0) {
      learned_[0] = ~literal;
      return;
    }
    marks_[literal.variable()] = Mark::none;
    resolve(explain(literal.variable()), open);
  }
}

void Engine::resolve(std::span<const Literal> literals, std::size_t& open) {
  own_work_ += literals.size();
  for (const Literal literal : literals) {
    const std::uint32_t variable = literal.variable();
    if (marks_[variable] != Mark::none || levels_[variable] == 0) continue;
    marks_[variable] = Mark::kept;
    marked_.push_back(variable);
    order_.bump(variable);
    if (levels_[variable] == level()) {
      ++open;
    } else {
      learned_.push_back(literal);
    }
  }
}

/// Drops literals that follow from the others (recursive minimization; Soerensson and Biere, SAT
/// 2009).
void Engine::minimize() {
  count_levels(learned_);  // stamps the levels of the clause
  const auto redundant = [this](Literal literal) { return is_redundant(literal, 0); };
  learned_.erase(std::remove_if(learned_.begin() + 1, learned_.end(), redundant), learned_.end());
}

bool Engine::is_redundant(Literal literal, int depth) {
  const std::uint32_t variable = literal.variable();
  if (reasons_[variable].cause == Cause::none || depth > kDeepest) return false;
  const std::size_t size = explain(variable).size();
  own_work_ += size;
  bool follows = true;
  for (std::size_t i = 0; follows && i < size; ++i) {
    const Literal cause = explain(variable)[i];  // explained again: recursion may move the reason
    const std::uint32_t other = cause.variable();
    const Mark mark = marks_[other];
    if (levels_[other] == 0 || mark == Mark::kept || mark == Mark::redundant) continue;
    const bool hopeless = mark == Mark::needed || level_stamps_[levels_[other]] != stamp_;
    follows = !hopeless && is_redundant(cause, depth + 1);
  }
  if (depth > 0) {
    marks_[variable] = follows ? Mark::redundant : Mark::needed;
    marked_.push_back(variable);
  }
  return follows;
}

/// Counts the different decision levels, and stamps them.
std::uint32_t Engine::count_levels(std::span<const Literal> literals) {
  ++stamp_;
  if (level_stamps_.size() <= level()) level_stamps_.resize(level() + std::size_t{1});
  std::uint32_t count = 0;
  for (const Literal literal : literals) {
    std::uint32_t& stamp = level_stamps_[levels_[literal.variable()]];
    if (stamp != stamp_) ++count;
    stamp = stamp_;
  }
  return count;
}

void Engine::each_learned(const Visit& visit) {
  backtrack(0);
  const ClauseArena& clauses = clauses_;
  for (auto at = clauses.first(); at != clauses.end(); at = clauses.next(at)) {
    if (clauses.glue(at) > 0) visit(clauses.literals(at), clauses.glue(at));
  }
  for (const Literal& literal : trail_) visit(std::span(&literal, 1), 1);
}

std::optional<Difference> Engine::difference_of(Literal literal) const {
  if (!graph_.is_atom(literal)) return std::nullopt;
  return graph_.difference_of(literal);
}

/// Drops the worse half of the learned clauses. Precondition: at level 0, after propagation. There
/// no clause is a reason, and true clauses are dropped as well.
void Engine::forget_learned() {
  std::vector<ClauseArena::Reference> candidates;
  for (auto at = clauses_.first(); at != clauses_.end(); at = clauses_.next(at)) {
    if (clauses_.glue(at) > kGoodGlue) candidates.push_back(at);
  }
  // Order: youngest first within the same glue and size, so that the tail is the oldest of the
  // worst.
  std::sort(candidates.begin(), candidates.end(), [this](auto a, auto b) {
    if (clauses_.glue(a) != clauses_.glue(b)) return clauses_.glue(a) < clauses_.glue(b);
    const std::size_t size_a = clauses_.literals(a).size();
    const std::size_t size_b = clauses_.literals(b).size();
    return size_a != size_b ? size_a < size_b : a > b;
  });
  std::vector<ClauseArena::Reference> dropped(
      candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2), candidates.end());
  std::sort(dropped.begin(), dropped.end());

  watches_.clear();
  for (std::uint8_t& concern : concerns_) concern &= static_cast<std::uint8_t>(~kClauses);
  watch_count_ = 0;
  learned_count_ = 0;
  const ClauseArena old = std::exchange(clauses_, ClauseArena());
  auto drop = dropped.begin();
  for (auto at = old.first(); at != old.end(); at = old.next(at)) {
    const std::span<const Literal> literals = old.literals(at);
    const bool unwanted = drop != dropped.end() && *drop == at;
    if (unwanted) ++drop;
    const bool satisfied = std::any_of(literals.begin(), literals.end(),
                                       [this](Literal literal) { return is_true(literal); });
    if (unwanted || satisfied) {
      if (old.glue(at) > 0 && proof_ != nullptr) proof_->deleted(literals);
      continue;
    }
    attach(clauses_.add(literals, old.glue(at)));
    if (old.glue(at) > 0) ++learned_count_;
  }
  learned_limit_ += learned_limit_ / 10;
}

}  // namespace twill::solve
