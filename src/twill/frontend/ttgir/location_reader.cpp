#include "twill/frontend/ttgir/attribute_reader.h"
#include "twill/frontend/ttgir/literals.h"
#include "twill/frontend/ttgir/nesting.h"

namespace twill::frontend::ttgir {
namespace {

constexpr std::size_t kWrapper = 4;  // "loc("

/// Text inside loc(...).
std::string inside(ir::Attribute location) {
  return location->text.substr(kWrapper, location->text.size() - kWrapper - 1);
}

}  // namespace

Result<ir::Attribute> AttributeReader::location() {
  TWILL_NEST(cursor_);
  cursor_.next();
  TWILL_TRY_VOID(cursor_.expect('(', "behind 'loc'"));
  TWILL_TRY(const ir::Attribute found, inner_location());
  TWILL_TRY_VOID(cursor_.expect(')', "at the end of the location"));
  return found;
}

Result<ir::Attribute> AttributeReader::inner_location() {
  TWILL_NEST(cursor_);
  if (cursor_.accept_word("unknown")) return types_.location("unknown", {}, "loc(unknown)");
  if (cursor_.at_word("callsite")) return callsite();
  if (cursor_.at_word("fused")) return fused();
  if (cursor_.at(TokenKind::string)) return string_location();
  if (starts_location()) return location();
  if (!cursor_.at(TokenKind::hash)) return cursor_.unexpected("a location");
  const Token token = cursor_.peek();
  TWILL_TRY(const ir::Attribute found, hash());
  if (found->kind == ir::AttributeKind::location) return found;
  if (found->kind == ir::AttributeKind::dialect) {
    return types_.location("dialect", {found}, "loc(" + found->text + ")");
  }
  return cursor_.fail(token, "this alias is no location");
}

/// Reads "file":line:column (or a range that starts there), "name"(location) or "name".
Result<ir::Attribute> AttributeReader::string_location() {
  const Token token = cursor_.next();
  const ir::Attribute name = types_.string(unescaped(cursor_.text(token)));
  if (cursor_.accept('(')) {
    TWILL_TRY(const ir::Attribute child, inner_location());
    TWILL_TRY_VOID(cursor_.expect(')', "at the end of the named location"));
    TWILL_TRY_VOID(check_size(child->text.size()));
    return types_.location("name", {name, child}, "loc(" + name->text + "(" + inside(child) + "))");
  }
  if (!cursor_.accept(':')) return types_.location("name", {name}, "loc(" + name->text + ")");
  std::string text = "loc(" + name->text;
  std::vector<ir::Attribute> parts{name};
  for (int i = 0; i < 2; ++i) {
    if (i == 1) {
      TWILL_TRY_VOID(cursor_.expect(':', "between line and column"));
    }
    const Token number = cursor_.peek();
    if (!cursor_.at(TokenKind::integer)) return cursor_.unexpected("a line and a column");
    TWILL_TRY(const ir::Attribute value, literal(types_.scalar("i64")));
    constexpr std::int64_t kMost = 1'000'000'000;
    const bool fits = value->kind == ir::AttributeKind::integer && value->integer <= kMost;
    if (!fits) return cursor_.fail(number, "there is no such line or column");
    parts.push_back(value);
    text += ":" + std::to_string(value->integer);
  }
  if (cursor_.at_word("to")) {
    const std::size_t first = cursor_.position();
    while (!cursor_.at(')') && !cursor_.at(',') && !cursor_.at(']') && !cursor_.at_word("at") &&
           !cursor_.at(TokenKind::end) && !cursor_.at(TokenKind::error)) {
      cursor_.next();
    }
    text += " " + cursor_.normalized(first, cursor_.position());
  }
  return types_.location("file", std::move(parts), text + ")");
}

Result<ir::Attribute> AttributeReader::callsite() {
  cursor_.next();
  TWILL_TRY_VOID(cursor_.expect('(', "behind 'callsite'"));
  TWILL_TRY(const ir::Attribute callee, inner_location());
  TWILL_TRY_VOID(cursor_.expect_word("at", "between callee and caller"));
  TWILL_TRY(const ir::Attribute caller, inner_location());
  TWILL_TRY_VOID(cursor_.expect(')', "at the end of the call site"));
  TWILL_TRY_VOID(check_size(callee->text.size() + caller->text.size()));
  return types_.location("callsite", {callee, caller},
                         "loc(callsite(" + inside(callee) + " at " + inside(caller) + "))");
}

/// Reads fused[a, b] or fused<metadata>[a, b]. The metadata comes last in the elements.
Result<ir::Attribute> AttributeReader::fused() {
  cursor_.next();
  std::string text = "loc(fused";
  std::vector<ir::Attribute> parts;
  ir::Attribute metadata = nullptr;
  if (cursor_.accept('<')) {
    TWILL_TRY(metadata, attribute());
    TWILL_TRY_VOID(cursor_.expect('>', "behind the metadata of the location"));
    text += "<" + metadata->text + ">";
  }
  TWILL_TRY_VOID(cursor_.expect('[', "before the fused locations"));
  while (!cursor_.at(']')) {
    TWILL_TRY(const ir::Attribute next, inner_location());
    text += (parts.empty() ? "[" : ", ") + inside(next);
    parts.push_back(next);
    TWILL_TRY_VOID(check_size(next->text.size()));
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(']', "behind the fused locations"));
  text += parts.empty() ? "[])" : "])";
  if (metadata != nullptr) parts.push_back(metadata);
  return types_.location("fused", std::move(parts), std::move(text));
}

}  // namespace twill::frontend::ttgir
