#include "twill/tasks/size.h"

#include <algorithm>
#include <utility>

#include "twill/support/check.h"

namespace twill::tasks {

struct Size::Node {
  Kind kind = Kind::constant;
  std::int64_t value = 0;
  std::string name;
  Size left{std::shared_ptr<const Node>()};
  Size right{std::shared_ptr<const Node>()};
};

namespace {

using Kind = Size::Kind;
using Number = tl::expected<std::int64_t, NoNumber>;

tl::unexpected<NoNumber> no_number(std::string why) {
  return tl::unexpected(NoNumber{std::move(why)});
}

Number divided(Kind kind, std::int64_t a, std::int64_t b) {
  const std::string both = std::to_string(a) + " by " + std::to_string(b);
  if (b < 1 || a < 0) return no_number("cannot divide " + both);
  if (kind == Kind::cdiv) return a / b + (a % b != 0 ? 1 : 0);
  if (a % b != 0) {
    return tl::unexpected(NoNumber{"cannot divide " + both + " without a remainder", true});
  }
  return a / b;
}

Number computed(Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (kind) {
    case Kind::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Kind::sub:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Kind::mul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Kind::div:
    case Kind::cdiv:
      return divided(kind, a, b);
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
    default:
      break;
  }
  if (overflow) return no_number("a size is beyond 64 bits");
  return result;
}

bool is_constant(const Size& size, std::int64_t value) { return size.constant() == value; }

/// Simplifies a combination: `x + 0`, `x * 1`, `x / 1`.
std::optional<Size> simplified(Kind kind, const Size& a, const Size& b) {
  switch (kind) {
    case Kind::add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      return std::nullopt;
    case Kind::sub:
      return is_constant(b, 0) ? std::optional(a) : std::nullopt;
    case Kind::mul:
      if (is_constant(a, 1) || is_constant(b, 0)) return b;
      if (is_constant(b, 1) || is_constant(a, 0)) return a;
      return std::nullopt;
    case Kind::div:
    case Kind::cdiv:
      return is_constant(b, 1) ? std::optional(a) : std::nullopt;
    default:
      return a == b ? std::optional(a) : std::nullopt;
  }
}

/// Precedence of an operator; functions and names bind tightest.
int strength(Kind kind) {
  if (kind == Kind::add || kind == Kind::sub) return 1;
  return kind == Kind::mul || kind == Kind::div ? 2 : 3;
}

std::string bracketed(const Size& size, int least) {
  const std::string text = to_string(size);
  const bool negative = size.constant().value_or(0) < 0;
  return strength(size.kind()) < least || negative ? "(" + text + ")" : text;
}

}  // namespace

Size::Size(std::int64_t value)
    : node_(std::make_shared<const Node>(Node{Kind::constant, value, {}})) {}

Size Size::named(std::string name) {
  Size size{std::shared_ptr<const Node>()};
  size.node_ = std::make_shared<const Node>(Node{Kind::name, 0, std::move(name)});
  return size;
}

Size::Kind Size::kind() const { return node_->kind; }
std::optional<std::int64_t> Size::constant() const {
  return kind() == Kind::constant ? std::optional(node_->value) : std::nullopt;
}
const std::string& Size::name() const { return node_->name; }
const Size& Size::left() const { return node_->left; }
const Size& Size::right() const { return node_->right; }

bool operator==(const Size& a, const Size& b) {
  if (a.node_ == b.node_) return true;
  if (a.kind() != b.kind()) return false;
  if (a.kind() == Size::Kind::constant) return a.node_->value == b.node_->value;
  if (a.kind() == Size::Kind::name) return a.name() == b.name();
  return a.left() == b.left() && a.right() == b.right();
}

Size combined(Size::Kind kind, const Size& a, const Size& b) {
  TWILL_CHECK(kind != Kind::constant && kind != Kind::name, "combined takes two sizes");
  if (a.constant() && b.constant()) {
    if (const auto number = computed(kind, *a.constant(), *b.constant())) return *number;
  }
  if (auto simple = simplified(kind, a, b)) return *simple;
  Size size{std::shared_ptr<const Size::Node>()};
  size.node_ = std::make_shared<const Size::Node>(Size::Node{kind, 0, {}, a, b});
  return size;
}

Size substituted(const Size& size, const SizeMap& by) {
  if (size.constant()) return size;
  if (size.kind() == Kind::name) {
    const auto found = by.find(size.name());
    return found == by.end() ? size : found->second;
  }
  return combined(size.kind(), substituted(size.left(), by), substituted(size.right(), by));
}

Number value_of(const Size& size, const std::map<std::string, std::int64_t>& names) {
  if (size.constant()) return *size.constant();
  if (size.kind() == Kind::name) {
    const auto found = names.find(size.name());
    if (found == names.end()) return no_number("'" + size.name() + "' has no value");
    return found->second;
  }
  const Number a = value_of(size.left(), names);
  if (!a) return a;
  const Number b = value_of(size.right(), names);
  return b ? computed(size.kind(), *a, *b) : b;
}

std::set<std::string> names_in(const Size& size) {
  if (size.constant()) return {};
  if (size.kind() == Kind::name) return {size.name()};
  std::set<std::string> names = names_in(size.left());
  names.merge(names_in(size.right()));
  return names;
}

std::string to_string(const Size& size) {
  switch (size.kind()) {
    case Kind::constant:
      return std::to_string(*size.constant());
    case Kind::name:
      return size.name();
    case Kind::add:
      return bracketed(size.left(), 1) + " + " + bracketed(size.right(), 2);
    case Kind::sub:
      return bracketed(size.left(), 1) + " - " + bracketed(size.right(), 2);
    case Kind::mul:
      return bracketed(size.left(), 2) + " * " + bracketed(size.right(), 3);
    case Kind::div:
      return bracketed(size.left(), 2) + " / " + bracketed(size.right(), 3);
    default:
      break;
  }
  const std::string name = size.kind() == Kind::cdiv  ? "cdiv"
                           : size.kind() == Kind::min ? "min"
                                                      : "max";
  return name + "(" + to_string(size.left()) + ", " + to_string(size.right()) + ")";
}

}  // namespace twill::tasks
