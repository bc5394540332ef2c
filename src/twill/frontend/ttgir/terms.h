#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

/// Finds equal values, whatever ops compute them.
namespace twill::frontend::ttgir {

/// Whether an op only computes its results from its operands.
bool is_computation(const ir::Op& op);

/// Description of an op besides its operands and results: name and attributes. Attributes with a
/// dot in their name are remarks, and left out.
std::string description(const ir::Op& op);

/// A type as text, without its layout.
std::string text_without_layout(ir::Type type);

/// Value seen through widening casts of integers.
ir::ValueId without_extension(const ir::Program& program, ir::ValueId value);

/// Numbers values. Values with the same number are equal, element by element, wherever both are
/// defined. Layouts do not matter. Equal are results of the same computation of the same operands,
/// in either order if it commutes, and x - y + y and x. Computations of constants are evaluated if
/// every step is exact in every floating type, as in 1 / (1 + exp(0)). Every other value is equal
/// only to itself.
class Terms {
 public:
  using Term = std::size_t;

  /// `program` must outlive this.
  explicit Terms(const ir::Program& program) : program_(program) {}

  Term of(ir::ValueId value);
  /// Makes a term that is equal only to itself.
  Term symbol();
  /// Sets the term of a value.
  void assume(ir::ValueId value, Term term) { known_[value] = term; }

  /// Term of the integer, or of a tile of that type full of it.
  Term integer(std::int64_t number, ir::Type type);
  /// Terms of the sum and difference of two terms of one type.
  Term plus(Term a, Term b, ir::Type type);
  Term minus(Term a, Term b, ir::Type type);
  /// Term of `what` applied to `operands`, equal to any other with the same arguments.
  Term made(const std::string& what, const std::vector<Term>& operands);

 private:
  struct Constant {
    double number = 0;
    std::string type;
  };
  struct Sum {
    bool adds = false;
    Term left = 0;
    Term right = 0;
  };
  /// Precondition: terms of the value's operands are known.
  Term compute(ir::ValueId value);
  std::optional<Term> constant(ir::ValueId value);
  std::optional<Term> folded(const ir::Op& op, const std::vector<Term>& operands, ir::Type type);
  Term number(double number, ir::Type type);
  const Constant* constant_at(Term term) const;

  const ir::Program& program_;
  std::map<ir::ValueId, Term> known_;
  std::map<std::pair<std::string, std::vector<Term>>, Term> made_;
  std::map<Term, Constant> constants_;
  std::map<Term, Sum> sums_;
  Term next_ = 0;
};

}  // namespace twill::frontend::ttgir
