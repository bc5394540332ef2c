#include <array>

#include "twill/frontend/ttgir/attribute_reader.h"
#include "twill/frontend/ttgir/nesting.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

/// Builtin types kept as text; all except `none` have a <...> body.
constexpr std::array kBuiltinOthers = {std::string_view("vector"),   std::string_view("memref"),
                                       std::string_view("complex"),  std::string_view("tuple"),
                                       std::string_view("unranked"), std::string_view("none"),
                                       std::string_view("opaque")};

bool is_builtin_other(std::string_view name) {
  for (const std::string_view other : kBuiltinOthers) {
    if (name == other) return true;
  }
  return false;
}

}  // namespace

bool AttributeReader::starts_type(std::size_t ahead) const {
  const Token& token = cursor_.peek(ahead);
  if (token.kind == TokenKind::bang || cursor_.at('(', ahead)) return true;
  if (token.kind != TokenKind::identifier) return false;
  const std::string_view name = cursor_.text(token);
  return name == "tensor" || is_builtin_other(name) || types_.scalar(name) != nullptr;
}

Result<ir::Type> AttributeReader::type() {
  TWILL_NEST(cursor_);
  if (cursor_.at(TokenKind::bang)) return type_at_bang();
  if (cursor_.at('(')) return function_type();
  if (!cursor_.at(TokenKind::identifier)) return cursor_.unexpected("a type");
  const Token token = cursor_.peek();
  const std::string_view name = cursor_.text(token);
  if (name == "tensor") return tensor();
  if (const ir::Type scalar = types_.scalar(name)) {
    cursor_.next();
    return scalar;
  }
  if (!is_builtin_other(name)) {
    return cursor_.fail(token, "unknown type '" + std::string(name.substr(0, 60)) + "'");
  }
  const std::size_t first = cursor_.position();
  cursor_.next();
  if (cursor_.at('<') && !cursor_.skip_balanced()) return cursor_.unexpected("'>'");
  return other_type(first);
}

Result<ir::Type> AttributeReader::type_at_bang() {
  const std::size_t first = cursor_.position();
  const Token token = cursor_.next();
  const std::string_view name = cursor_.text(token);
  if (name.find('.') == std::string_view::npos && !cursor_.at('<')) return type_alias(token);
  if (name == "!tt.ptr") return pointer();
  if (name.ends_with(".memdesc")) return memdesc(name);
  if (name.ends_with(".tensordesc")) return descriptor(name);
  if (name.ends_with(".async.token")) return types_.token(name);
  const bool has_body = cursor_.at('<') && !cursor_.spaced(cursor_.position());
  if (has_body && !cursor_.skip_balanced()) return cursor_.unexpected("'>'");
  return other_type(first);
}

Result<ir::Type> AttributeReader::short_type(std::string_view prefix) {
  TWILL_NEST(cursor_);
  if (!cursor_.at('<')) return type();
  if (prefix == "!tt.ptr") return pointer();
  if (prefix == "!tt.tensordesc") return descriptor(prefix);
  const std::size_t first = cursor_.position();
  if (!cursor_.skip_balanced()) return cursor_.unexpected("'>'");
  return other_type(first);
}

Result<std::vector<ir::Type>> AttributeReader::type_list() {
  std::vector<ir::Type> found;
  if (!cursor_.accept('(')) {
    TWILL_TRY(const ir::Type only, type());
    found.push_back(only);
    return found;
  }
  while (!cursor_.at(')')) {
    TWILL_TRY(const ir::Type next, short_type(""));
    found.push_back(next);
    if (cursor_.at('{')) {  // attributes of a function's results
      TWILL_TRY_VOID(dictionary());
    }
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(')', "at the end of the types"));
  return found;
}

Result<std::vector<std::int64_t>> AttributeReader::extents() {
  const Token start = cursor_.peek();
  auto shape = cursor_.shape_before_element();
  if (!shape) return cursor_.fail(start, "this extent does not fit 64 bits");
  return *std::move(shape);
}

Result<ir::Type> AttributeReader::tensor() {
  const std::size_t first = cursor_.position();
  cursor_.next();
  TWILL_TRY_VOID(cursor_.expect('<', "behind 'tensor'"));
  if (cursor_.at('*')) {  // unranked: TTGIR has no such types, so the type is kept as text
    cursor_.go_to(first + 1);
    if (!cursor_.skip_balanced()) return cursor_.unexpected("'>'");
    return other_type(first);
  }
  TWILL_TRY(auto shape, extents());
  TWILL_TRY(const ir::Type element, type());
  ir::Attribute encoding = nullptr;
  if (cursor_.accept(',')) {
    TWILL_TRY(encoding, attribute());
  }
  TWILL_TRY_VOID(cursor_.expect('>', "at the end of the tensor type"));
  TWILL_TRY_VOID(check_size(element->text.size() + (encoding ? encoding->text.size() : 0)));
  return types_.tensor(std::move(shape), element, encoding);
}

Result<ir::Type> AttributeReader::memdesc(std::string_view spelling) {
  TWILL_TRY_VOID(cursor_.expect('<', "behind 'memdesc'"));
  ir::TypeNode parts;
  TWILL_TRY(parts.shape, extents());
  TWILL_TRY(parts.element, type());
  while (cursor_.accept(',')) {
    TWILL_TRY_VOID(memdesc_entry(parts));
  }
  TWILL_TRY_VOID(cursor_.expect('>', "at the end of the memdesc type"));
  TWILL_TRY_VOID(
      check_size(parts.element->text.size() + (parts.encoding ? parts.encoding->text.size() : 0)));
  parts.space = space_of(parts.memory_space);
  return types_.memdesc(std::move(parts), spelling);
}

Result<void> AttributeReader::memdesc_entry(ir::TypeNode& parts) {
  if (cursor_.accept_word("mutable")) {
    parts.is_mutable = true;
    return {};
  }
  if (cursor_.at(TokenKind::integer)) {
    const Token start = cursor_.peek();
    auto shape = cursor_.whole_shape();
    if (!shape) return cursor_.fail(start, "this extent does not fit 64 bits");
    parts.alloc_shape = *std::move(shape);
    return {};
  }
  if (parts.encoding != nullptr && parts.memory_space != nullptr) {
    return cursor_.unexpected("'mutable', an allocation shape or '>'");
  }
  TWILL_TRY(const ir::Attribute next, attribute());
  (parts.encoding == nullptr ? parts.encoding : parts.memory_space) = next;
  return {};
}

Result<ir::Type> AttributeReader::pointer() {
  TWILL_TRY_VOID(cursor_.expect('<', "behind 'ptr'"));
  TWILL_TRY(const ir::Type pointee, type());
  int address_space = 1;
  if (cursor_.accept(',')) {
    TWILL_TRY(const Token number, cursor_.expect(TokenKind::integer, "an address space"));
    const std::string digits(cursor_.text(number));
    if (digits.size() > 4) return cursor_.fail(number, "no such address space");
    address_space = std::stoi(digits);
  }
  TWILL_TRY_VOID(cursor_.expect('>', "at the end of the pointer type"));
  TWILL_TRY_VOID(check_size(pointee->text.size()));
  return types_.pointer(pointee, "!tt.ptr", address_space);
}

/// Reads <tensor<128x64xf16, #shared>>, or <128x64xf16, #shared> of newer Tritons.
Result<ir::Type> AttributeReader::descriptor(std::string_view spelling) {
  const std::size_t first = cursor_.position();
  if (!cursor_.at('<') || spelling != "!tt.tensordesc") {  // im2col descriptors and the like
    if (cursor_.at('<') && !cursor_.skip_balanced()) return cursor_.unexpected("'>'");
    return other_type(first - 1);
  }
  cursor_.next();
  ir::Type block = nullptr;
  if (cursor_.at_word("tensor")) {
    TWILL_TRY(block, type());
  } else {
    TWILL_TRY(auto shape, extents());
    TWILL_TRY(const ir::Type element, type());
    ir::Attribute encoding = nullptr;
    if (cursor_.accept(',')) {
      TWILL_TRY(encoding, attribute());
    }
    block = types_.tensor(std::move(shape), element, encoding);
  }
  TWILL_TRY_VOID(cursor_.expect('>', "at the end of the descriptor type"));
  TWILL_TRY_VOID(check_size(block->text.size()));
  return types_.tensordesc(block, spelling);
}

Result<ir::Type> AttributeReader::function_type() {
  std::string text = "(";
  TWILL_TRY(const auto inputs, type_list());
  for (std::size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? "" : ", ") + inputs[i]->text;
  TWILL_TRY_VOID(cursor_.expect(TokenKind::arrow, "'->' in the function type"));
  const bool parenthesized = cursor_.at('(');
  TWILL_TRY(const auto outputs, type_list());
  text += parenthesized ? ") -> (" : ") -> ";
  for (std::size_t i = 0; i < outputs.size(); ++i) text += (i == 0 ? "" : ", ") + outputs[i]->text;
  if (parenthesized) text += ")";
  TWILL_TRY_VOID(check_size(text.size()));
  return types_.other(std::move(text));
}

Result<ir::Type> AttributeReader::type_alias(const Token& token) {
  const auto found = aliases_.find(cursor_.text(token));
  if (found == aliases_.end()) {
    return cursor_.fail(token,
                        "type alias '" + std::string(cursor_.text(token)) + "' is nowhere defined");
  }
  Alias& alias = found->second;
  if (alias.type != nullptr) return alias.type;
  if (alias.being_read) return cursor_.fail(token, "this type alias is defined by itself");
  alias.being_read = true;
  const std::size_t back = cursor_.position();
  const bool was_in_body = std::exchange(in_body_, false);
  cursor_.go_to(alias.definition);
  auto read = type();
  in_body_ = was_in_body;
  cursor_.go_to(back);
  alias.being_read = false;
  if (!read) return read;
  alias.type = *read;
  return alias.type;
}

Result<ir::Type> AttributeReader::other_type(std::size_t first) {
  TWILL_TRY(std::string text, expanded(first, cursor_.position()));
  return types_.other(std::move(text));
}

}  // namespace twill::frontend::ttgir
