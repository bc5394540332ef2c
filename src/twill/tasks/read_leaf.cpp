#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "twill/support/spelling.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/read_parts.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

class LeafReader {
 public:
  LeafReader(Cursor& cursor, const TaskValue& task)
      : cursor_(cursor), task_(task), builder_(task) {}

  Result<Leaf> read() {
    TWILL_TRY_VOID(cursor_.expect("{"));
    while (!cursor_.take("}")) {
      const Where where = cursor_.here();
      TWILL_TRY(const std::string name, cursor_.word("a tensor or a name"));
      if (cursor_.is("(")) {
        return fail_task("T09", where, "a leaf computes, and launches nothing",
                         "an inner variant launches tasks");
      }
      const std::optional<Function> combines = combination();
      if (!combines && !cursor_.take("=")) return cursor_.unexpected("'=', '+=', 'max=' or 'min='");
      TWILL_TRY(std::size_t node, comparison());
      const bool is_argument = find_argument(task_, name) != nullptr;
      if (combines && is_argument) {
        builder_.combine(*combines, name, node, where);
        continue;
      }
      if (combines) {
        TWILL_TRY(const std::size_t before, value_named(name, where));
        node = builder_.apply(*combines, {before, node}, where);
      }
      if (is_argument) {
        builder_.assign(name, node, where);
      } else {
        named_[name] = node;
      }
    }
    return builder_.finish();
  }

 private:
  /// Takes "+=", "max=" or "min=".
  std::optional<Function> combination() {
    if (cursor_.take("+=")) return Function::add;
    for (const auto& [name, function] : {std::pair("max", Function::max), {"min", Function::min}}) {
      if (!cursor_.is(name) || !cursor_.is("=", 1)) continue;
      cursor_.next();
      cursor_.next();
      return function;
    }
    return std::nullopt;
  }
  Result<std::size_t> value_named(const std::string& name, const Where& where) {
    if (const auto found = named_.find(name); found != named_.end()) {
      return found->second;
    }
    if (find_argument(task_, name) != nullptr || has_position(task_, name)) {
      return builder_.value_of(name, where);
    }
    std::vector<std::string_view> names = names_of(task_.arguments);
    for (const auto& [it, node] : named_) names.push_back(it);
    return fail_task("T02", where, "there is no " + in_quotes(name) + " here",
                     names_like(name, names));
  }
  Result<std::size_t> applied(Function function, std::vector<std::size_t> operands,
                              const Where& where) {
    if (builder_.size() >= kMostNodes) {
      return cursor_.wrong(cursor_.peek(),
                           "the leaf computes more than " + std::to_string(kMostNodes) + " values");
    }
    return builder_.apply(function, std::move(operands), where);
  }
  /// Reads sums with at most one comparison.
  Result<std::size_t> comparison() {
    TWILL_TRY(const std::size_t left, sum());
    for (const Function function : {Function::less, Function::less_equal, Function::greater,
                                    Function::greater_equal, Function::equal, Function::unequal}) {
      const Where where = cursor_.here();
      if (!cursor_.take(spelling_of(function).name)) continue;
      TWILL_TRY(const std::size_t right, sum());
      return applied(function, {left, right}, where);
    }
    return left;
  }
  Result<std::size_t> sum() {
    const Cursor::Deeper deeper(cursor_);
    TWILL_TRY_VOID(cursor_.check_depth());
    TWILL_TRY(std::size_t left, product());
    while (cursor_.is("+") || cursor_.is("-")) {
      const Where where = cursor_.here();
      const Function function = cursor_.next() == "+" ? Function::add : Function::sub;
      TWILL_TRY(const std::size_t right, product());
      TWILL_TRY(left, applied(function, {left, right}, where));
    }
    return left;
  }
  Result<std::size_t> product() {
    TWILL_TRY(std::size_t left, primary());
    while (cursor_.is("*") || cursor_.is("/")) {
      const Where where = cursor_.here();
      const Function function = cursor_.next() == "*" ? Function::mul : Function::div;
      TWILL_TRY(const std::size_t right, primary());
      TWILL_TRY(left, applied(function, {left, right}, where));
    }
    return left;
  }
  Result<std::size_t> primary() {
    const Cursor::Deeper deeper(cursor_);
    TWILL_TRY_VOID(cursor_.check_depth());
    const Where where = cursor_.here();
    if (cursor_.take("(")) {
      TWILL_TRY(const std::size_t inside, comparison());
      TWILL_TRY_VOID(cursor_.expect(")"));
      return inside;
    }
    if (cursor_.take("-")) {
      TWILL_TRY(const std::size_t negated, primary());
      return applied(Function::neg, {negated}, where);
    }
    if (cursor_.peek().kind == Token::Kind::number) {
      TWILL_TRY(const double value, cursor_.number());
      return builder_.constant(value, where);
    }
    TWILL_TRY(const std::string name, cursor_.word("a value"));
    if (name == "inf" && !cursor_.is("(")) {
      return builder_.constant(std::numeric_limits<double>::infinity(), where);
    }
    if (!cursor_.is("(")) return value_named(name, where);
    return call(name, where);
  }
  Result<std::size_t> call(const std::string& name, const Where& where) {
    const auto function = function_named(name);
    if (!function) {
      return fail_task("T09", where, "there is no function " + in_quotes(name),
                       names_like(name, function_names()));
    }
    TWILL_TRY_VOID(cursor_.expect("("));
    if (*function == Function::iota) {
      TWILL_TRY(Size length, cursor_.size());
      TWILL_TRY_VOID(cursor_.expect(")"));
      return builder_.iota(std::move(length), where);
    }
    std::optional<Scalar> to;
    if (*function == Function::cast) {
      TWILL_TRY(to, cursor_.scalar());
      TWILL_TRY_VOID(cursor_.expect(","));
    }
    std::vector<std::size_t> operands;
    do {
      TWILL_TRY(const std::size_t next, comparison());
      operands.push_back(next);
    } while (cursor_.take(","));
    TWILL_TRY_VOID(cursor_.expect(")"));
    const Spelling& spelling = spelling_of(*function);
    if (operands.size() < spelling.least || operands.size() > spelling.most) {
      const std::string least = std::to_string(spelling.least);
      const bool ranges = spelling.most > spelling.least;
      return fail_task("T01", where,
                       "'" + name + "' takes " + least +
                           (ranges ? " or " + std::to_string(spelling.most) : "") +
                           (spelling.most == 1 ? " value, not " : " values, not ") +
                           std::to_string(operands.size()));
    }
    if (to) return builder_.cast(*to, operands[0], where);
    return applied(*function, std::move(operands), where);
  }

  Cursor& cursor_;
  const TaskValue& task_;
  LeafBuilder builder_;
  std::map<std::string, std::size_t> named_;
};

}  // namespace

Result<Leaf> read_leaf(Cursor& cursor, const TaskValue& task) {
  return LeafReader(cursor, task).read();
}

}  // namespace twill::tasks
