#include "twill/frontend/ttgir/attribute_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "twill/frontend/ttgir/literals.h"
#include "twill/frontend/ttgir/nesting.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

/// Bytes of text that aliases may expand to, beyond the file's own size. A few lines of aliases
/// that double each other must not fill the memory.
constexpr std::size_t kExpansionAllowed = std::size_t{64} << 20U;

}  // namespace

AttributeReader::AttributeReader(Cursor& cursor, ir::TypeTable& types)
    : cursor_(cursor), types_(types) {
  const std::vector<Token>& tokens = cursor.tokens();
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].first_on_line) continue;
    if (tokens[i].kind != TokenKind::hash && tokens[i].kind != TokenKind::bang) continue;
    const Token& equals = tokens[i + 1];
    if (equals.kind != TokenKind::punctuation || cursor.text(equals) != "=") continue;
    aliases_.try_emplace(cursor.text(tokens[i]), Alias{i + 2, nullptr, nullptr, false, false});
  }
}

bool AttributeReader::starts_alias_definition() const {
  const TokenKind kind = cursor_.peek().kind;
  return (kind == TokenKind::hash || kind == TokenKind::bang) && cursor_.at('=', 1);
}

Result<void> AttributeReader::alias_definition(ir::ProgramBuilder& builder) {
  const Token token = cursor_.next();
  const std::string_view name = cursor_.text(token);
  const auto found = aliases_.find(name);
  if (found == aliases_.end()) {
    return cursor_.fail(token, "an alias is defined at the start of a line");
  }
  if (std::exchange(found->second.defined, true)) {
    return cursor_.fail(token, "alias '" + std::string(name) + "' is defined twice",
                        "if these are several dumps in one file, keep one of them");
  }
  cursor_.next();
  if (token.kind == TokenKind::bang) {
    TWILL_TRY(found->second.type, type());
    builder.add_type_alias(std::string(name.substr(1)), found->second.type);
    return {};
  }
  TWILL_TRY(found->second.attribute, attribute());
  builder.add_attribute_alias(std::string(name.substr(1)), found->second.attribute);
  return {};
}

Result<void> AttributeReader::check_size(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kExpansionAllowed + 32 * cursor_.text_size()) return {};
  return cursor_.fail(cursor_.peek(), "the aliases of this text expand to too much text");
}

Result<std::string> AttributeReader::expanded(std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    const Token& token = cursor_.tokens()[i];
    if (i > first) text += cursor_.between(i);
    const std::string_view spelled = cursor_.text(token);
    const auto alias = aliases_.find(spelled);
    if (alias == aliases_.end()) {
      text += spelled;
    } else if (token.kind == TokenKind::hash) {
      TWILL_TRY(const ir::Attribute meant, attribute_alias(token));
      text += meant->text;
    } else {
      TWILL_TRY(const ir::Type meant, type_alias(token));
      text += meant->text;
    }
    if (text.size() > kExpansionAllowed) break;
  }
  TWILL_TRY_VOID(check_size(text.size()));
  return text;
}

Result<ir::Attribute> AttributeReader::attribute() {
  TWILL_NEST(cursor_);
  switch (cursor_.peek().kind) {
    case TokenKind::integer:
    case TokenKind::floating:
      return number();
    case TokenKind::string:
      return string();
    case TokenKind::symbol:
      return symbol();
    case TokenKind::hash:
      return hash();
    case TokenKind::identifier:
      return word();
    default:
      break;
  }
  if (cursor_.at('-')) return number();
  if (cursor_.at('[')) return array();
  if (cursor_.at('{')) {
    TWILL_TRY(auto found, dictionary());
    return types_.dictionary(std::move(found));
  }
  if (!starts_type()) return cursor_.unexpected("an attribute");
  TWILL_TRY(const ir::Type found, type());
  return types_.type(found);
}

Result<ir::Attribute> AttributeReader::number() {
  const std::size_t first = cursor_.position();
  cursor_.accept('-');
  const Token digits = cursor_.next();
  if (digits.kind != TokenKind::integer && digits.kind != TokenKind::floating) {
    return cursor_.fail(digits, "expected a number behind '-'");
  }
  const std::size_t last = cursor_.position();
  ir::Type type = nullptr;
  if (cursor_.accept(':')) {
    TWILL_TRY(type, this->type());
  } else if (!in_body_) {
    type = types_.scalar(digits.kind == TokenKind::integer ? "i64" : "f64");
  }
  const std::size_t back = cursor_.position();
  cursor_.go_to(first);
  auto found = literal(type);
  if (found && cursor_.position() == last) cursor_.go_to(back);
  return found;
}

namespace {

/// Whether an integer, signed or unsigned, fits its type; null: any type. -0 does not exist.
bool fits(std::int64_t value, bool negative, ir::Type type) {
  constexpr int kWidest = 63;
  if (type == nullptr || type->kind != ir::TypeKind::integer) return true;
  if (negative && value == 0) return false;
  if (type->bits > kWidest) return true;
  const std::int64_t end = std::int64_t{1} << (type->bits - 1);
  return value >= -end && value - end < end;
}

/// Whether nested arrays have the given extents.
bool has_shape(ir::Attribute value, std::span<const std::int64_t> shape) {
  const bool is_array = value->kind == ir::AttributeKind::array;
  if (shape.empty() || !is_array) return shape.empty() && !is_array;
  if (std::ssize(value->elements) != shape[0]) return false;
  return std::all_of(value->elements.begin(), value->elements.end(),
                     [&](ir::Attribute it) { return has_shape(it, shape.subspan(1)); });
}

}  // namespace

/// Reads a number, or true or false, of a known type (null: by its spelling).
Result<ir::Attribute> AttributeReader::literal(ir::Type type) {
  for (const bool truth : {true, false}) {
    const Token word = cursor_.peek();
    if (!cursor_.accept_word(truth ? "true" : "false")) continue;
    if (type == nullptr || type->name == "i1") return types_.boolean(truth);
    return cursor_.fail(word, "a truth value stands where " + type->text + " is wanted");
  }
  const bool negative = cursor_.accept('-');
  const Token token = cursor_.next();
  const std::string_view digits = cursor_.text(token);
  const std::string spelling = (negative ? "-" : "") + std::string(digits);
  const bool wants_float = type != nullptr && type->kind == ir::TypeKind::floating;
  const bool is_whole = token.kind == TokenKind::integer && !digits.starts_with("0x");
  if (is_whole && wants_float) {
    return cursor_.fail(token, spelling + " is an integer, but " + type->text + " is wanted");
  }
  const bool wants_whole = type != nullptr && type->kind == ir::TypeKind::integer;
  if (token.kind == TokenKind::floating && wants_whole) {
    return cursor_.fail(token, spelling + " is no integer, but " + type->text + " is wanted");
  }
  if (token.kind == TokenKind::floating || (token.kind == TokenKind::integer && wants_float)) {
    return types_.floating(float_value(spelling, type), spelling, type);
  }
  if (token.kind != TokenKind::integer) return cursor_.fail(token, "expected a number");
  const auto value = integer_value(spelling, type);
  if (value && !fits(*value, negative, type)) {
    return cursor_.fail(token, spelling + " does not fit " + type->text);
  }
  if (value) return types_.integer(*value, type);
  return types_.opaque(spelling + (type != nullptr ? " : " + type->text : ""));
}

Result<ir::Attribute> AttributeReader::string() {
  const Token token = cursor_.next();
  ir::Type type = nullptr;
  if (cursor_.at(':') && starts_type(1) && !cursor_.at('(', 1)) {
    cursor_.next();
    TWILL_TRY(type, this->type());
  }
  return types_.string(unescaped(cursor_.text(token)), type);
}

Result<ir::Attribute> AttributeReader::symbol() {
  std::string spelling(cursor_.text(cursor_.next()));
  std::string name = "@" + unescaped(std::string_view(spelling).substr(1));
  while (cursor_.at(':') && cursor_.at(':', 1) && cursor_.at(TokenKind::symbol, 2)) {
    cursor_.next();
    cursor_.next();
    const std::string_view inner = cursor_.text(cursor_.next());
    spelling.append("::").append(inner);
    name += "::@" + unescaped(inner.substr(1));
  }
  return types_.symbol(std::move(name), std::move(spelling));
}

Result<ir::Attribute> AttributeReader::array() {
  cursor_.next();
  std::vector<ir::Attribute> elements;
  std::size_t bytes = 0;
  while (!cursor_.at(']')) {
    TWILL_TRY(const ir::Attribute next, attribute());
    elements.push_back(next);
    bytes += next->text.size() + 2;
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(']', "at the end of the array"));
  TWILL_TRY_VOID(check_size(bytes));
  return types_.array(std::move(elements));
}

Result<ir::Attribute> AttributeReader::dense_array() {
  cursor_.next();
  TWILL_TRY_VOID(cursor_.expect('<', "behind 'array'"));
  TWILL_TRY(const ir::Type element, type());
  std::vector<ir::Attribute> elements;
  if (cursor_.accept(':')) {
    do {
      TWILL_TRY(const ir::Attribute next, literal(element));
      elements.push_back(next);
    } while (cursor_.accept(','));
  }
  TWILL_TRY_VOID(cursor_.expect('>', "at the end of the array"));
  return types_.dense_array(element, std::move(elements));
}

/// Reads dense<...> : type. The type comes last but is read first, since it gives the numbers their
/// meaning.
Result<ir::Attribute> AttributeReader::dense() {
  const std::size_t first = cursor_.position();
  cursor_.next();
  if (!cursor_.at('<')) return cursor_.unexpected("'<' behind 'dense'");
  const std::size_t body = cursor_.position();
  if (!cursor_.skip_balanced()) return cursor_.unexpected("'>' at the end of the elements");
  const std::size_t body_end = cursor_.position();
  TWILL_TRY_VOID(cursor_.expect(':', "and a type behind the elements"));
  TWILL_TRY(const ir::Type type, this->type());
  const std::size_t back = cursor_.position();
  if (type->element == nullptr) return opaque(first);
  cursor_.go_to(body + 1);
  std::vector<ir::Attribute> elements;
  std::string text;
  if (cursor_.at(TokenKind::string)) {
    text = cursor_.normalized(body + 1, body_end - 1);
  } else if (!cursor_.at('>')) {
    TWILL_TRY(const ir::Attribute value, dense_elements(type->element, elements));
    text = value->text.substr(0, value->text.find(" : "));
    if (value->kind == ir::AttributeKind::array) {
      if (type->kind == ir::TypeKind::tensor && !has_shape(value, type->shape)) {
        return cursor_.fail(cursor_.tokens()[body], "these elements are none of a " + type->text);
      }
      text = cursor_.normalized(body + 1, body_end - 1);
    }
  }
  cursor_.go_to(back);
  return types_.dense(std::move(elements), std::move(text), type);
}

/// Reads one literal (a splat), or nested arrays of literals. `elements` gets the splat, or the
/// members of the outer array.
Result<ir::Attribute> AttributeReader::dense_elements(ir::Type element,
                                                      std::vector<ir::Attribute>& elements) {
  TWILL_NEST(cursor_);
  if (!cursor_.accept('[')) {
    TWILL_TRY(const ir::Attribute value, literal(element));
    elements.push_back(value);
    return value;
  }
  while (!cursor_.at(']')) {
    if (cursor_.at('[')) {
      std::vector<ir::Attribute> inner;
      TWILL_TRY(const ir::Attribute row, dense_elements(element, inner));
      elements.push_back(row);
    } else {
      TWILL_TRY(const ir::Attribute value, literal(element));
      elements.push_back(value);
    }
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(']', "at the end of the elements"));
  return types_.array(elements);
}

Result<ir::Attribute> AttributeReader::word() {
  const Token token = cursor_.peek();
  const std::string_view name = cursor_.text(token);
  if (name == "true" || name == "false") {
    cursor_.next();
    return types_.boolean(name == "true");
  }
  if (name == "unit") {
    cursor_.next();
    return types_.unit();
  }
  if (name == "array" && cursor_.at('<', 1)) return dense_array();
  if (name == "dense" && cursor_.at('<', 1)) return dense();
  if (starts_location()) return location();
  if (starts_type()) {
    TWILL_TRY(const ir::Type found, type());
    return types_.type(found);
  }
  // Accepts affine_map<...>, strided<...>, dense_resource<...> : type; in a dialect's body, any
  // keyword.
  const std::size_t first = cursor_.position();
  cursor_.next();
  if (cursor_.at('<') && !cursor_.spaced(cursor_.position())) {
    if (!cursor_.skip_balanced()) return cursor_.unexpected("'>'");
    if (cursor_.accept(':')) {
      TWILL_TRY_VOID(type());
    }
  } else if (!in_body_) {
    return cursor_.fail(token, "'" + std::string(name.substr(0, 60)) + "' is no attribute");
  }
  return opaque(first);
}

Result<ir::Attribute> AttributeReader::opaque(std::size_t first) {
  TWILL_TRY(std::string text, expanded(first, cursor_.position()));
  return types_.opaque(std::move(text));
}

Result<ir::Attribute> AttributeReader::hash() {
  const Token token = cursor_.next();
  const std::string_view name = cursor_.text(token);
  if (name.find('.') == std::string_view::npos && !cursor_.at('<')) return attribute_alias(token);
  return dialect_body(token);
}

/// Reads #ttg.blocked<{...}>, #ttng.tensor_memory_encoding<blockM = 128, ...>, #ttg.shared_memory,
/// or any balanced body.
Result<ir::Attribute> AttributeReader::dialect_body(const Token& token) {
  const std::string name(cursor_.text(token).substr(1));
  const std::size_t start = cursor_.position();
  if (!cursor_.at('<') || cursor_.spaced(start)) {
    return types_.dialect(name, "", layout_of(name, {}));
  }
  const bool was_in_body = std::exchange(in_body_, true);
  const bool braces = cursor_.at('{', 1);
  cursor_.next();
  if (braces) cursor_.next();
  auto read = entries(braces ? '}' : '>');
  const bool whole = read.has_value() && (!braces || cursor_.accept('>'));
  in_body_ = was_in_body;
  if (whole) {
    const ir::Attribute found = types_.dialect(name, *read, layout_of(name, *read), braces);
    TWILL_TRY_VOID(check_size(found->text.size()));
    return found;
  }
  if (!read && cursor_.is_hopeless()) return tl::unexpected(std::move(read).error());
  cursor_.go_to(start);
  if (!cursor_.skip_balanced()) return cursor_.unexpected("'>' at the end of '#" + name + "'");
  TWILL_TRY(std::string body, expanded(start, cursor_.position()));
  return types_.dialect(name, std::move(body), layout_of(name, {}));
}

Result<std::vector<ir::NamedAttribute>> AttributeReader::dictionary() {
  TWILL_TRY_VOID(cursor_.expect('{', "before attributes"));
  const bool was_in_body = std::exchange(in_body_, false);
  auto found = entries('}');
  in_body_ = was_in_body;
  return found;
}

Result<std::vector<ir::NamedAttribute>> AttributeReader::entries(char close) {
  std::vector<ir::NamedAttribute> found;
  while (!cursor_.at(close)) {
    TWILL_TRY(auto next, entry());
    found.push_back(std::move(next));
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(close, "or ',' behind an attribute"));
  return found;
}

Result<ir::NamedAttribute> AttributeReader::entry() {
  const Token key = cursor_.peek();
  if (key.kind != TokenKind::identifier && key.kind != TokenKind::string) {
    return cursor_.unexpected("the name of an attribute");
  }
  cursor_.next();
  std::string name =
      key.kind == TokenKind::string ? unescaped(cursor_.text(key)) : std::string(cursor_.text(key));
  if (in_body_ && key.kind == TokenKind::string && !cursor_.at('=')) {
    return cursor_.unexpected("'='");  // a string by itself: no list of named attributes
  }
  if (!cursor_.accept('=')) return ir::NamedAttribute{std::move(name), types_.unit()};
  TWILL_TRY(const ir::Attribute value, attribute());
  TWILL_TRY_VOID(check_size(value->text.size()));
  return ir::NamedAttribute{std::move(name), value};
}

Result<ir::Attribute> AttributeReader::attribute_alias(const Token& token) {
  const std::string_view name = cursor_.text(token);
  const auto found = aliases_.find(name);
  if (found == aliases_.end()) {
    return cursor_.fail(token,
                        "alias '" + std::string(name.substr(0, 60)) + "' is nowhere defined");
  }
  Alias& alias = found->second;
  if (alias.attribute != nullptr) return alias.attribute;
  if (alias.being_read) return cursor_.fail(token, "this alias is defined by itself");
  alias.being_read = true;
  const std::size_t back = cursor_.position();
  const bool was_in_body = std::exchange(in_body_, false);
  cursor_.go_to(alias.definition);
  auto read = attribute();
  in_body_ = was_in_body;
  cursor_.go_to(back);
  alias.being_read = false;
  if (!read) return read;
  alias.attribute = *read;
  return alias.attribute;
}

}  // namespace twill::frontend::ttgir
