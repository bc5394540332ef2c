#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Terms of SMT-LIB as text. Constants are folded, so terms that are always true are not printed.
namespace twill::emit {

using Term = std::string;

inline const Term kTrue = "true";
inline const Term kFalse = "false";

Term number(std::int64_t value);
Term negation(const Term& term);
Term all_of(std::vector<Term> terms);
Term any_of(std::vector<Term> terms);
Term implies(const Term& condition, const Term& conclusion);
Term at_least(const Term& left, const Term& right);
Term at_most(const Term& left, const Term& right);
/// Sum of integer terms; 0 without any.
Term sum_of(const std::vector<Term>& terms);
Term difference(const Term& left, const Term& right);
/// `factor` if `condition`, else 0.
Term if_then(const Term& condition, const Term& factor);

/// A text under construction.
class Script {
 public:
  void comment(std::string_view line);
  void set_logic();
  void declare(const Term& name, std::string_view sort);
  void define(const Term& name, std::string_view sort, const Term& body);
  void claim(const Term& term);
  /// Claims that exactly one of the terms holds.
  void claim_one_of(const std::vector<Term>& terms);
  /// Ends the script; it may not be used afterwards.
  std::string finish() &&;

 private:
  std::string text_;
};

}  // namespace twill::emit
