#include "twill/tasks/cursor.h"

namespace twill::tasks {

Result<Size> Cursor::size() {
  const Deeper deeper(*this);
  TWILL_TRY_VOID(check_depth());
  TWILL_TRY(Size sum, size_product());
  while (is("+") || is("-")) {
    const bool adds = tokens_[next_++].text == "+";
    TWILL_TRY(const Size next, size_product());
    sum = adds ? sum + next : sum - next;
    TWILL_TRY_VOID(count_terms());
  }
  return sum;
}

Result<Size> Cursor::size_product() {
  TWILL_TRY(Size product, size_primary());
  while (is("*") || is("/")) {
    const bool multiplies = tokens_[next_++].text == "*";
    TWILL_TRY(const Size next, size_primary());
    product = multiplies ? product * next : product / next;
    TWILL_TRY_VOID(count_terms());
  }
  return product;
}

/// Limits the terms of a size, since sizes are trees that other code walks by recursion.
Result<void> Cursor::count_terms() {
  constexpr std::size_t kMostTerms = 10000;
  if (++terms_ <= kMostTerms) return {};
  return wrong(peek(), "there are too many sums and products of sizes in this text");
}

Result<Size> Cursor::size_primary() {
  const Deeper deeper(*this);
  TWILL_TRY_VOID(check_depth());
  if (take("(")) {
    TWILL_TRY(Size inside, size());
    TWILL_TRY_VOID(expect(")"));
    return inside;
  }
  if (take("-")) {
    TWILL_TRY(const Size negated, size_primary());
    return Size(0) - negated;
  }
  if (peek().kind == Token::Kind::number) {
    TWILL_TRY(const std::int64_t value, whole_number());
    return Size(value);
  }
  TWILL_TRY(std::string name, word("a size"));
  const bool is_function = name == "cdiv" || name == "min" || name == "max";
  if (!is_function || !is("(")) return Size::named(std::move(name));
  TWILL_TRY_VOID(expect("("));
  TWILL_TRY(const Size a, size());
  TWILL_TRY_VOID(expect(","));
  TWILL_TRY(const Size b, size());
  TWILL_TRY_VOID(expect(")"));
  return name == "cdiv" ? cdiv(a, b) : name == "min" ? min(a, b) : max(a, b);
}

Result<std::vector<Size>> Cursor::sizes(std::string_view close) {
  std::vector<Size> all;
  do {
    TWILL_TRY(Size next, size());
    all.push_back(std::move(next));
  } while (take(","));
  TWILL_TRY_VOID(expect(close));
  return all;
}

}  // namespace twill::tasks
