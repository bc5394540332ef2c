#include "twill/solve/proof.h"

#include <ostream>

namespace twill::solve {
namespace {

std::int64_t signed_number(Literal literal) {
  const auto number = std::int64_t{literal.variable()} + 1;
  return literal.negative() ? -number : number;
}

void write(std::ostream& out, const Difference& difference) {
  out << ' ' << difference.x.index() << ' ' << difference.y.index() << ' ' << difference.bound
      << '\n';
}

}  // namespace

void TextProof::begin(std::string_view title) { out_ << "t " << title << '\n'; }

void TextProof::difference(const Difference& difference) {
  out_ << 'e';
  write(out_, difference);
}

void TextProof::atom(Literal literal, const Difference& difference) {
  out_ << "v " << signed_number(literal);
  write(out_, difference);
}

void TextProof::clause(std::span<const Literal> literals) { line("c", literals); }

void TextProof::at_most(std::span<const Term> terms, std::int64_t bound) {
  out_ << "s " << bound;
  for (const Term& term : terms) {
    out_ << ' ' << term.coefficient << ' ' << signed_number(term.literal);
  }
  out_ << " 0\n";
}

void TextProof::difference_lemma(std::span<const Literal> literals) { line("d", literals); }

void TextProof::at_most_lemma(std::size_t index, std::span<const Literal> literals) {
  out_ << "p " << index;
  for (const Literal literal : literals) out_ << ' ' << signed_number(literal);
  out_ << " 0\n";
}

void TextProof::learned(std::span<const Literal> literals) { line("l", literals); }

void TextProof::deleted(std::span<const Literal> literals) { line("x", literals); }

void TextProof::refuted(Literal assumption) { out_ << "r " << signed_number(assumption) << '\n'; }

void TextProof::line(std::string_view kind, std::span<const Literal> literals) {
  out_ << kind;
  for (const Literal literal : literals) out_ << ' ' << signed_number(literal);
  out_ << " 0\n";
}

}  // namespace twill::solve
