#include "twill/certify/unit_propagation.h"

#include <algorithm>

namespace twill::certify {

UnitPropagation::UnitPropagation() {
  add_variable();
  assign(kTrue, kNone);
  fixed_ = head_ = trail_.size();
}

Literal UnitPropagation::add_variable() {
  const auto literal = static_cast<Literal>(values_.size());
  values_.insert(values_.end(), 2, 0);
  watches_.resize(watches_.size() + 2);
  reasons_.push_back(kNone);
  marks_.push_back(0);
  return literal;
}

void UnitPropagation::assign(Literal literal, Clause reason) {
  values_[literal] = 1;
  values_[negation(literal)] = -1;
  reasons_[literal / 2] = reason;
  trail_.push_back(literal);
}

UnitPropagation::Clause UnitPropagation::add(std::span<const Literal> given) {
  const auto clause = static_cast<Clause>(starts_.size());
  const std::size_t start = arena_.size();
  arena_.insert(arena_.end(), given.begin(), given.end());
  const auto begin = arena_.begin() + static_cast<std::ptrdiff_t>(start);
  std::sort(begin, arena_.end());
  arena_.erase(std::unique(begin, arena_.end()), arena_.end());
  // Order of the literals: watches two literals that are not false, if there are two.
  std::stable_sort(begin, arena_.end(),
                   [this](Literal a, Literal b) { return values_[a] > values_[b]; });
  starts_.push_back(start);
  sizes_.push_back(static_cast<std::uint32_t>(arena_.size() - start));
  is_reason_.push_back(0);
  if (contradiction_) return clause;
  const std::span<Literal> literals = literals_of(clause);
  if (literals.size() > 1) {
    watches_[literals[0]].push_back({clause, literals[1]});
    watches_[literals[1]].push_back({clause, literals[0]});
  }
  if (literals.empty() || is_false(literals[0])) {
    contradiction_ = true;
    conflict_ = clause;
    return clause;
  }
  const bool unit = literals.size() == 1 || is_false(literals[1]);
  if (!unit || is_true(literals[0])) return clause;
  assign(literals[0], clause);
  contradiction_ = !propagate();
  for (; fixed_ < trail_.size(); ++fixed_) {
    const Clause reason = reasons_[trail_[fixed_] / 2];
    if (reason != kNone) is_reason_[reason] = 1;
  }
  return clause;
}

void UnitPropagation::remove(Clause clause) {
  if (is_reason_[clause] == 0 && clause != conflict_) sizes_[clause] = 0;
}

bool UnitPropagation::assume(std::span<const Literal> literals) {
  if (contradiction_) return false;
  conflict_ = kNone;
  for (const Literal literal : literals) {
    if (is_true(literal)) continue;
    if (is_false(literal)) {
      clash_ = literal;
      return false;
    }
    assign(literal, kNone);
  }
  return propagate();
}

void UnitPropagation::release() {
  while (trail_.size() > fixed_) {
    const Literal literal = trail_.back();
    values_[literal] = values_[negation(literal)] = 0;
    trail_.pop_back();
  }
  head_ = fixed_;
  if (!contradiction_) conflict_ = kNone;
}

/// Propagates until nothing follows. Returns false if a clause is violated.
bool UnitPropagation::propagate() {
  while (head_ < trail_.size()) {
    const Literal now_false = negation(trail_[head_++]);
    std::vector<Watch>& watches = watches_[now_false];
    std::size_t kept = 0;
    bool fine = true;
    for (std::size_t i = 0; i < watches.size(); ++i) {
      Watch watch = watches[i];
      bool keep = true;
      if (fine && !is_true(watch.blocker)) fine = visit(watch, now_false, keep);
      if (keep) watches[kept++] = watch;
    }
    watches.resize(kept);
    if (!fine) return false;
  }
  return true;
}

/// Finds another literal for a clause to watch, or the literal that the clause implies. Returns
/// false if the clause is violated.
bool UnitPropagation::visit(Watch& watch, Literal now_false, bool& keep) {
  const std::span<Literal> literals = literals_of(watch.clause);
  if (literals.empty()) {
    keep = false;
    return true;
  }
  if (literals[0] == now_false) std::swap(literals[0], literals[1]);
  watch.blocker = literals[0];
  if (is_true(literals[0])) return true;
  for (std::size_t i = 2; i < literals.size(); ++i) {
    if (is_false(literals[i])) continue;
    std::swap(literals[1], literals[i]);
    watches_[literals[1]].push_back({watch.clause, literals[0]});
    keep = false;
    return true;
  }
  if (is_false(literals[0])) {
    conflict_ = watch.clause;
    return false;
  }
  assign(literals[0], watch.clause);
  return true;
}

void UnitPropagation::mark(Literal literal) {
  const std::uint32_t variable = literal / 2;
  if (marks_[variable] != 0) return;
  marks_[variable] = 1;
  todo_.push_back(variable);
}

void UnitPropagation::walk(std::vector<Clause>& clauses) {
  for (std::size_t i = 0; i < todo_.size(); ++i) {
    const Clause reason = reasons_[todo_[i]];
    if (reason == kNone) continue;
    clauses.push_back(reason);
    if (is_reason(reason)) continue;
    for (const Literal literal : literals_of(reason)) mark(literal);
  }
  for (const std::uint32_t variable : todo_) marks_[variable] = 0;
  todo_.clear();
}

void UnitPropagation::trace_contradiction(std::vector<Clause>& clauses) {
  if (conflict_ == kNone) {
    mark(clash_);
  } else {
    clauses.push_back(conflict_);
    for (const Literal literal : literals_of(conflict_)) mark(literal);
  }
  walk(clauses);
}

void UnitPropagation::trace(std::span<const Literal> literals, std::vector<Clause>& clauses) {
  for (const Literal literal : literals) mark(literal);
  walk(clauses);
}

void UnitPropagation::trace_further(Clause clause, std::vector<Clause>& clauses) {
  if (!is_reason(clause)) return;
  for (const Literal literal : literals_of(clause)) {
    const Clause reason = reasons_[literal / 2];
    if (reason != kNone && reason != clause) clauses.push_back(reason);
  }
}

}  // namespace twill::certify
