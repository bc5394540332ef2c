#include "twill/solve/at_most.h"

#include <algorithm>

namespace twill::solve {

std::uint32_t AtMostStore::add(std::span<const Term> terms, std::int64_t bound,
                               std::uint32_t counted) {
  const auto index = static_cast<std::uint32_t>(constraints_.size());
  Constraint constraint{terms_.size(), terms.size(), bound, 0};
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  std::stable_sort(terms_.end() - static_cast<std::ptrdiff_t>(terms.size()), terms_.end(),
                   [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
  for (const Term& term : terms) {
    const std::uint32_t code = term.literal.code();
    if (occurrences_.size() <= code) occurrences_.resize(code + std::size_t{1});
    occurrences_[code].push_back({index, term.coefficient});
    const bool true_already = values_[code] > 0 && positions_[term.literal.variable()] < counted;
    if (true_already) constraint.sum += term.coefficient;
  }
  constraints_.push_back(constraint);
  return index;
}

bool AtMostStore::assign(Literal literal) {
  implied_.clear();
  if (literal.code() >= occurrences_.size()) return true;
  bool fine = true;
  for (const Occurrence& occurrence : occurrences_[literal.code()]) {
    Constraint& constraint = constraints_[occurrence.constraint];
    constraint.sum += occurrence.coefficient;
    if (constraint.sum <= constraint.bound) continue;
    fine = false;
    violated_ = occurrence.constraint;
  }
  work_ += occurrences_[literal.code()].size();
  if (!fine) return false;
  for (const Occurrence& occurrence : occurrences_[literal.code()])
    propagate(occurrence.constraint);
  return true;
}

void AtMostStore::unassign(Literal literal) {
  if (literal.code() >= occurrences_.size()) return;
  for (const Occurrence& occurrence : occurrences_[literal.code()]) {
    constraints_[occurrence.constraint].sum -= occurrence.coefficient;
  }
}

bool AtMostStore::check(std::uint32_t index) {
  implied_.clear();
  return propagate(index);
}

bool AtMostStore::propagate(std::uint32_t index) {
  const Constraint& constraint = constraints_[index];
  const std::int64_t room = constraint.bound - constraint.sum;
  if (room < 0) {
    violated_ = index;
    return false;
  }
  for (std::size_t i = constraint.first; i < constraint.first + constraint.count; ++i) {
    if (terms_[i].coefficient <= room) break;
    ++work_;
    if (values_[terms_[i].literal.code()] == 0) implied_.push_back({~terms_[i].literal, index});
  }
  return true;
}

void AtMostStore::explain(std::uint32_t index, Literal implied, std::uint32_t position_limit,
                          std::vector<Literal>& causes) {
  const Constraint& constraint = constraints_[index];
  causes_.clear();
  std::int64_t sum = 0;
  for (std::size_t i = constraint.first; i < constraint.first + constraint.count; ++i) {
    const Term& term = terms_[i];
    if (term.literal == ~implied) {
      sum += term.coefficient;
      continue;
    }
    const std::uint32_t variable = term.literal.variable();
    if (values_[term.literal.code()] <= 0 || positions_[variable] >= position_limit) continue;
    causes_.push_back(term);
    sum += term.coefficient;
  }
  work_ += constraint.count;
  std::sort(causes_.begin(), causes_.end(), [this](const Term& a, const Term& b) {
    return positions_[a.literal.variable()] > positions_[b.literal.variable()];
  });
  std::int64_t surplus = sum - constraint.bound - 1;
  for (const Term& term : causes_) {
    if (term.coefficient <= surplus) {
      surplus -= term.coefficient;
    } else {
      causes.push_back(term.literal);
    }
  }
}

std::size_t AtMostStore::memory() const {
  return constraints_.capacity() * sizeof(Constraint) +
         terms_.capacity() * (sizeof(Term) + 2 * sizeof(Occurrence)) +
         occurrences_.capacity() * sizeof(occurrences_[0]);
}

}  // namespace twill::solve
