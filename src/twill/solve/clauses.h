#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Clauses one after another in one block of memory: a header of two words, then the literals.
///
///     | literal count | glue | literal 0 | literal 1 | ... | literal count | glue | ...
///     ^ Reference of a clause                              ^ Reference of the next clause
class ClauseArena {
 public:
  /// Start of a clause; valid until the clause is moved to another arena.
  using Reference = std::uint32_t;

  /// `glue` is the number of decision levels in a learned clause (LBD); 0 for the input.
  Reference add(std::span<const Literal> literals, std::uint32_t glue) {
    const auto reference = static_cast<Reference>(words_.size());
    words_.push_back(Literal::from_code(static_cast<std::uint32_t>(literals.size())));
    words_.push_back(Literal::from_code(glue));
    words_.insert(words_.end(), literals.begin(), literals.end());
    return reference;
  }

  std::span<Literal> literals(Reference clause) {
    return std::span(words_).subspan(clause + 2, words_[clause].code());
  }
  std::span<const Literal> literals(Reference clause) const {
    return std::span(words_).subspan(clause + 2, words_[clause].code());
  }
  std::uint32_t glue(Reference clause) const { return words_[clause + 1].code(); }

  /// Clauses in order: from first() by next() until end().
  Reference first() const { return 0; }
  Reference next(Reference clause) const { return clause + 2 + words_[clause].code(); }
  Reference end() const { return static_cast<Reference>(words_.size()); }

  std::size_t memory() const { return words_.capacity() * sizeof(Literal); }

 private:
  std::vector<Literal> words_;
};

}  // namespace twill::solve
