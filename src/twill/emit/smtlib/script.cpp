#include "twill/emit/smtlib/script.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace twill::emit {
namespace {

/// `(head a b ...)`, or the single term itself.
Term joined(std::string_view head, const std::vector<Term>& terms) {
  if (terms.size() == 1) return terms.front();
  return fmt::format("({} {})", head, fmt::join(terms, " "));
}

}  // namespace

Term number(std::int64_t value) {
  return value < 0 ? fmt::format("(- {})", -value) : std::to_string(value);
}

Term negation(const Term& term) {
  if (term == kTrue) return kFalse;
  if (term == kFalse) return kTrue;
  return fmt::format("(not {})", term);
}

Term all_of(std::vector<Term> terms) {
  if (std::find(terms.begin(), terms.end(), kFalse) != terms.end()) return kFalse;
  std::erase(terms, kTrue);
  return terms.empty() ? kTrue : joined("and", terms);
}

Term any_of(std::vector<Term> terms) {
  if (std::find(terms.begin(), terms.end(), kTrue) != terms.end()) return kTrue;
  std::erase(terms, kFalse);
  return terms.empty() ? kFalse : joined("or", terms);
}

Term implies(const Term& condition, const Term& conclusion) {
  if (condition == kTrue || conclusion == kTrue) return conclusion;
  if (condition == kFalse) return kTrue;
  if (conclusion == kFalse) return negation(condition);
  return fmt::format("(=> {} {})", condition, conclusion);
}

Term at_least(const Term& left, const Term& right) {
  return fmt::format("(>= {} {})", left, right);
}
Term at_most(const Term& left, const Term& right) { return fmt::format("(<= {} {})", left, right); }

Term sum_of(const std::vector<Term>& terms) {
  return terms.empty() ? number(0) : joined("+", terms);
}

Term difference(const Term& left, const Term& right) {
  return fmt::format("(- {} {})", left, right);
}

Term if_then(const Term& condition, const Term& factor) {
  if (condition == kTrue) return factor;
  if (condition == kFalse) return number(0);
  return fmt::format("(ite {} {} 0)", condition, factor);
}

void Script::comment(std::string_view line) { text_ += fmt::format("; {}\n", line); }

void Script::set_logic() { text_ += "(set-logic QF_LIA)\n"; }

void Script::declare(const Term& name, std::string_view sort) {
  text_ += fmt::format("(declare-fun {} () {})\n", name, sort);
}

void Script::define(const Term& name, std::string_view sort, const Term& body) {
  text_ += fmt::format("(define-fun {} () {} {})\n", name, sort, body);
}

void Script::claim(const Term& term) {
  if (term != kTrue) text_ += fmt::format("(assert {})\n", term);
}

void Script::claim_one_of(const std::vector<Term>& terms) {
  claim(any_of(terms));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      claim(negation(all_of({terms[i], terms[j]})));
    }
  }
}

std::string Script::finish() && {
  text_ += "(check-sat)\n";
  return std::move(text_);
}

}  // namespace twill::emit
