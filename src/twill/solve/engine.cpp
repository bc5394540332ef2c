#include "twill/solve/engine.h"

#include <algorithm>

#include "twill/support/check.h"

namespace twill::solve {

Engine::Engine(ProofSink* proof, std::string_view title)
    : proof_(proof), at_most_(values_, positions_), graph_(values_) {
  if (proof_ != nullptr) proof_->begin(title);
  const Literal constant = add_literal();
  TWILL_CHECK(constant == kTrue, "the first literal is the constant true");
  assign(kTrue, {});
}

Literal Engine::add_literal(bool decided) {
  const Literal literal(static_cast<std::uint32_t>(levels_.size()), false);
  values_.insert(values_.end(), 2, 0);
  concerns_.insert(concerns_.end(), 2, 0);
  watches_.add_list();
  watches_.add_list();
  positions_.push_back(0);
  levels_.push_back(0);
  reasons_.emplace_back();
  phases_.push_back(0);
  matters_if_.push_back({kTrue, kTrue});
  marks_.push_back(Mark::none);
  order_.add_variable(decided);
  order_.insert(literal.variable());
  return literal;
}

void Engine::matters_if(Literal literal, Literal first, Literal second) {
  matters_if_[literal.variable()] = {first, second};
}

Literal Engine::at_least(const Difference& difference) {
  backtrack(0);
  const Literal fresh(static_cast<std::uint32_t>(levels_.size()), false);
  const auto [literal, taken] = graph_.add_atom(difference, fresh);
  if (!taken) return literal;
  add_literal();
  concerns_[literal.code()] |= kDifference;
  concerns_[(~literal).code()] |= kDifference;
  new_atoms_ = true;
  if (proof_ != nullptr) proof_->atom(literal, difference);
  return literal;
}

void Engine::require(const Difference& difference) {
  backtrack(0);
  if (proof_ != nullptr) proof_->difference(difference);
  if (inconsistent_) return;
  if (!graph_.assert_edge(difference, kTrue)) {
    conflict_from_graph();
    inconsistent_ = true;
  } else if (!imply_from_graph()) {
    inconsistent_ = true;
  }
}

void Engine::add_clause(std::span<const Literal> literals) {
  ++clause_count_;
  if (proof_ != nullptr) proof_->clause(literals);
  add_simplified(literals, 0);
}

void Engine::add_learned(std::span<const Literal> literals, std::uint32_t glue) {
  TWILL_CHECK(proof_ == nullptr, "a proof derives every clause by itself");
  add_simplified(literals, glue);
}

/// Adds a clause without literals whose value is known.
void Engine::add_simplified(std::span<const Literal> literals, std::uint32_t glue) {
  backtrack(0);
  if (inconsistent_) return;
  learned_.assign(literals.begin(), literals.end());
  std::sort(learned_.begin(), learned_.end());
  learned_.erase(std::unique(learned_.begin(), learned_.end()), learned_.end());
  for (std::size_t i = 0; i < learned_.size(); ++i) {
    const bool tautology = i > 0 && learned_[i] == ~learned_[i - 1];
    if (tautology || is_true(learned_[i])) return;
  }
  std::erase_if(learned_, [this](Literal literal) { return is_false(literal); });
  if (learned_.empty()) {
    inconsistent_ = true;
  } else if (learned_.size() == 1) {
    assign(learned_[0], {});
  } else {
    attach(clauses_.add(learned_, glue));
    if (glue > 0) ++learned_count_;
  }
}

void Engine::add_at_most(std::span<const Term> terms, std::int64_t bound) {
  backtrack(0);
  if (proof_ != nullptr) proof_->at_most(terms, bound);
  std::vector<Term> kept;
  for (const Term& term : terms) {
    if (term.literal == kTrue) bound -= term.coefficient;
    if (term.literal.variable() == kTrue.variable()) continue;
    kept.push_back(term);
    concerns_[term.literal.code()] |= kAtMost;
  }
  const std::uint32_t index = at_most_.add(kept, bound, at_most_head_);
  if (inconsistent_) return;
  if (!at_most_.check(index)) {
    conflict_from_at_most(index);
    inconsistent_ = true;
  } else if (!imply_from_at_most()) {
    inconsistent_ = true;
  }
}

void Engine::attach(ClauseArena::Reference clause) {
  const std::span<const Literal> literals = clauses_.literals(clause);
  const bool is_binary = literals.size() == 2;
  watch(literals[0], {clause, literals[1], is_binary});
  watch(literals[1], {clause, literals[0], is_binary});
  watch_count_ += 2;
}

void Engine::watch(Literal literal, const Watch& watch) {
  watches_.add((~literal).code(), watch);
  concerns_[(~literal).code()] |= kClauses;
}

void Engine::assign(Literal literal, Reason reason) {
  const std::uint32_t variable = literal.variable();
  values_[literal.code()] = 1;
  values_[(~literal).code()] = -1;
  positions_[variable] = trail_size();
  levels_[variable] = level();
  reasons_[variable] = reason;
  trail_.push_back(literal);
  // At level 0 reasons are never asked for, so they are reported to the proof at once.
  const bool log = level() == 0 && proof_ != nullptr;
  if (log && (reason.cause == Cause::at_most || reason.cause == Cause::difference)) {
    explain(variable);
  }
}

/// Makes an open literal true; false, with the reason in `conflict_`, if it is false.
bool Engine::imply(Literal literal, Reason reason) {
  if (is_true(literal)) return true;
  if (!is_false(literal)) {
    assign(literal, reason);
    return true;
  }
  causes_.clear();
  if (reason.cause == Cause::at_most) {
    at_most_.explain(reason.index, literal, trail_size(), causes_);
  } else {
    graph_.explain(literal, reason.index, causes_);
  }
  conflict_.assign(1, literal);
  for (const Literal cause : causes_) conflict_.push_back(~cause);
  log_lemma(reason, conflict_);
  return false;
}

void Engine::backtrack(std::uint32_t target) {
  if (level() <= target) return;
  const Level start = level_starts_[target];
  for (std::uint32_t at = trail_size(); at-- > start.trail;) {
    const Literal literal = trail_[at];
    const std::uint32_t variable = literal.variable();
    if (at < at_most_head_ && concerns(literal, kAtMost)) at_most_.unassign(literal);
    values_[literal.code()] = 0;
    values_[(~literal).code()] = 0;
    phases_[variable] = literal.negative() ? -1 : 1;
    order_.insert(variable);
  }
  for (; !left_open_.empty() && left_open_.back().second > target; left_open_.pop_back()) {
    order_.insert(left_open_.back().first);
  }
  trail_.resize(start.trail);
  graph_.backtrack(start.edges);
  level_starts_.resize(target);
  clause_head_ = at_most_head_ = graph_head_ = start.trail;
  if (target == 0) explained_.clear();
}

/// Brings all constraints to a fixpoint, the cheap ones first. False: `conflict_` is violated.
bool Engine::propagate() {
  while (true) {
    if (clause_head_ < trail_size()) {
      const Literal next = trail_[clause_head_++];
      if (concerns(next, kClauses) && !propagate_clauses(next)) return false;
    } else if (at_most_head_ < trail_size()) {
      const Literal next = trail_[at_most_head_++];
      if (concerns(next, kAtMost) && !propagate_at_most(next)) return false;
    } else if (graph_head_ < trail_size()) {
      const Literal next = trail_[graph_head_++];
      if (concerns(next, kDifference) && !propagate_difference(next)) return false;
    } else {
      return true;
    }
  }
}

bool Engine::propagate_clauses(Literal now_true) {
  const std::span<Watch> watches = watches_[now_true.code()];
  const Literal now_false = ~now_true;
  own_work_ += watches.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const Watch watch = watches[i];
    if (is_true(watch.blocker)) {
      watches[kept++] = watch;
      continue;
    }
    if (watch.is_binary() && !is_false(watch.blocker)) {
      watches[kept++] = watch;
      assign(watch.blocker, {Cause::clause, false, watch.clause()});
      continue;
    }
    const std::span<Literal> literals = clauses_.literals(watch.clause());
    if (literals[0] == now_false) std::swap(literals[0], literals[1]);
    const Literal first = literals[0];
    if (!is_true(first)) {
      const auto other = std::find_if(literals.begin() + 2, literals.end(),
                                      [this](Literal literal) { return !is_false(literal); });
      if (other != literals.end()) {
        std::swap(literals[1], *other);
        this->watch(literals[1], {watch.clause(), first, false});
        continue;
      }
    }
    watches[kept++] = {watch.clause(), first, watch.is_binary()};
    if (is_true(first)) continue;
    if (!is_false(first)) {
      assign(first, {Cause::clause, false, watch.clause()});
      continue;
    }
    conflict_.assign(literals.begin(), literals.end());
    const auto rest = watches.subspan(i + 1);
    std::copy(rest.begin(), rest.end(), watches.begin() + static_cast<std::ptrdiff_t>(kept));
    watches_.shrink(now_true.code(), kept + rest.size());
    return false;
  }
  watches_.shrink(now_true.code(), kept);
  if (kept == 0) concerns_[now_true.code()] &= static_cast<std::uint8_t>(~kClauses);
  return true;
}

bool Engine::propagate_at_most(Literal now_true) {
  if (at_most_.assign(now_true)) return imply_from_at_most();
  conflict_from_at_most(at_most_.violated());
  return false;
}

bool Engine::imply_from_at_most() {
  for (std::size_t i = 0; i < at_most_.implied().size(); ++i) {
    const auto [literal, constraint] = at_most_.implied()[i];
    if (!imply(literal, {Cause::at_most, false, constraint})) return false;
  }
  return true;
}

void Engine::conflict_from_at_most(std::uint32_t constraint) {
  causes_.clear();
  at_most_.explain(constraint, kTrue, trail_size(), causes_);
  conflict_.clear();
  for (const Literal cause : causes_) conflict_.push_back(~cause);
  log_lemma({Cause::at_most, false, constraint}, conflict_);
}

bool Engine::propagate_difference(Literal now_true) {
  if (reasons_[now_true.variable()].from_graph) return true;
  if (graph_.assert_edge(graph_.difference_of(now_true), now_true)) return imply_from_graph();
  conflict_from_graph();
  return false;
}

bool Engine::imply_from_graph() {
  const Reason reason{Cause::difference, true, static_cast<std::uint32_t>(graph_.edge_count())};
  for (std::size_t i = 0; i < graph_.implied().size(); ++i) {
    if (!imply(graph_.implied()[i], reason)) return false;
  }
  return true;
}

void Engine::conflict_from_graph() {
  conflict_.clear();
  for (const Literal cause : graph_.conflict()) conflict_.push_back(~cause);
  log_lemma({Cause::difference, true, 0}, conflict_);
}

std::size_t Engine::memory() const {
  return variable_count() * 160 + clauses_.memory() + watch_count_ * 2 * sizeof(Watch) +
         at_most_.memory() + graph_.memory() + explained_.capacity() * sizeof(Literal);
}

}  // namespace twill::solve
