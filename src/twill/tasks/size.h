#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <tl/expected.hpp>

/// Sizes of tensors and indices of ranges: integer expressions over names (named sizes of a task's
/// signature, tunables, indices). Constants are folded when an expression is made, so equal
/// expressions have one value.
namespace twill::tasks {

class Size {
 public:
  enum class Kind { constant, name, add, sub, mul, div, cdiv, min, max };

  Size() : Size(std::int64_t{0}) {}
  Size(std::int64_t value);                       // NOLINT: sizes are written as numbers
  Size(int value) : Size(std::int64_t{value}) {}  // NOLINT
  Size(const char* name) : Size(named(name)) {}   // NOLINT
  static Size named(std::string name);

  Kind kind() const;
  std::optional<std::int64_t> constant() const;
  /// Spelling of a name; empty for other kinds.
  const std::string& name() const;
  /// Left operand. Precondition: neither a constant nor a name.
  const Size& left() const;
  const Size& right() const;

  friend bool operator==(const Size& a, const Size& b);

 private:
  friend Size combined(Size::Kind kind, const Size& a, const Size& b);
  struct Node;
  explicit Size(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

/// Combines two sizes. Precondition: `kind` is neither constant nor name.
Size combined(Size::Kind kind, const Size& a, const Size& b);

inline Size operator+(const Size& a, const Size& b) { return combined(Size::Kind::add, a, b); }
inline Size operator-(const Size& a, const Size& b) { return combined(Size::Kind::sub, a, b); }
inline Size operator*(const Size& a, const Size& b) { return combined(Size::Kind::mul, a, b); }
/// Exact quotient: a quotient with a remainder has no value (T11).
inline Size operator/(const Size& a, const Size& b) { return combined(Size::Kind::div, a, b); }
/// Quotient rounded up.
inline Size cdiv(const Size& a, const Size& b) { return combined(Size::Kind::cdiv, a, b); }
inline Size min(const Size& a, const Size& b) { return combined(Size::Kind::min, a, b); }
inline Size max(const Size& a, const Size& b) { return combined(Size::Kind::max, a, b); }

using SizeMap = std::map<std::string, Size>;

/// Replaces the names in `by`.
Size substituted(const Size& size, const SizeMap& by);

/// Reason why a size is no number.
struct NoNumber {
  std::string why;
  bool has_remainder = false;  ///< remainder of an exact division
};

/// Value of a size. Fails for a name without a value, a division with a remainder, a divisor below
/// one, and a result beyond 64 bits.
tl::expected<std::int64_t, NoNumber> value_of(const Size& size,
                                              const std::map<std::string, std::int64_t>& names);

std::set<std::string> names_in(const Size& size);

/// Spelling in the text form: "cdiv(M, U)", "2 * i + 1".
std::string to_string(const Size& size);

}  // namespace twill::tasks
