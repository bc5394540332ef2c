#include <algorithm>

#include "twill/frontend/ttgir/literals.h"
#include "twill/frontend/ttgir/op_reader.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/misfit.h"

/// Reads ops in custom form: by their format (formats.cpp), or as unknown ops.
namespace twill::frontend::ttgir {
namespace {

using Kind = FormatElement::Kind;

/// Prefix that MLIR leaves out of a type, by position: "<f16>" means "!tt.ptr<f16>" in these ops.
std::string_view left_out(std::string_view op, std::size_t position) {
  if (op == "tt.make_tensor_descriptor") return position == 0 ? "!tt.ptr" : "!tt.tensordesc";
  const bool points = op == "tt.make_tensor_ptr" || op == "tt.advance" || op == "tt.addptr";
  return points ? "!tt.ptr" : "";
}

/// Whether a form has only operands, in order. For known ops, brackets have no meaning.
bool is_plain(std::string_view form, bool known) {
  return form.find_first_not_of(known ? "%, []()" : "%, ") == std::string_view::npos;
}

}  // namespace

Result<void> OpReader::custom_op(Draft& draft) {
  switch (draft.kind) {
    case ir::OpKind::module:
      return module_op(draft);
    case ir::OpKind::function:
      return function_op(draft);
    case ir::OpKind::for_loop:
      return for_op(draft);
    case ir::OpKind::branch:
      return if_op(draft);
    case ir::OpKind::while_loop:
      return while_op(draft);
    case ir::OpKind::constant:
      return constant_op(draft);
    default:
      break;
  }
  if (draft.op == "ttg.warp_specialize") return warp_specialize_op(draft);
  const Format* format = format_of(draft.op);
  if (format == nullptr || !format->has_syntax) return unknown_op(draft);
  const std::size_t start = cursor_.position();
  const Draft blank = draft;
  const auto fits = formatted_op(draft, *format);
  if (fits) {
    return finish_custom(draft, format->results);
  }
  draft = blank;
  cursor_.go_to(start);
  return unknown_op(draft);
}

Result<void> OpReader::formatted_op(Draft& draft, const Format& format) {
  TWILL_TRY_VOID(match(draft, format.elements));
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  if (starts_types()) {
    TWILL_TRY_VOID(type_section(draft));
  }
  if (!starts_statement() && !attributes_.starts_location()) {
    return cursor_.unexpected("the end of the operation");
  }
  order_by_role(draft);
  return {};
}

bool OpReader::is_next(const FormatElement& element) const {
  switch (element.kind) {
    case Kind::operand:
    case Kind::operands:
      return cursor_.at(TokenKind::value);
    case Kind::literal:
      return cursor_.text(cursor_.peek()) == element.name;
    default:
      return false;
  }
}

Result<void> OpReader::match(Draft& draft, const std::vector<FormatElement>& elements) {
  for (const FormatElement& element : elements) {
    const bool is_group = element.kind == Kind::optional || element.kind == Kind::repeated;
    if (!is_group) {
      TWILL_TRY_VOID(match_one(draft, element));
      continue;
    }
    while (is_next(element.inside.front())) {
      TWILL_TRY_VOID(match(draft, element.inside));
      if (element.kind == Kind::optional) break;
    }
  }
  return {};
}

Result<void> OpReader::match_one(Draft& draft, const FormatElement& element) {
  switch (element.kind) {
    case Kind::operand: {
      TWILL_TRY(const ir::ValueId value, operand());
      draft.by_role.emplace_back(element.name, value);
      return {};
    }
    case Kind::operands: {
      TWILL_TRY(const auto values, operands());
      for (const ir::ValueId value : values) draft.by_role.emplace_back(element.name, value);
      return {};
    }
    case Kind::literal:
      if (!is_next(element)) return cursor_.unexpected("'" + element.name + "'");
      cursor_.next();
      return {};
    case Kind::flag:
      if (cursor_.accept_word(element.words[0])) {
        draft.attributes.emplace_back(element.name, types_.unit());
      }
      return {};
    case Kind::attributes:
      return cursor_.at('{') ? merge_dictionary(draft) : Result<void>();
    case Kind::integer:
    case Kind::integers:
      return match_integers(draft, element);
    case Kind::symbol:
    case Kind::string: {
      const bool is_symbol = element.kind == Kind::symbol;
      if (!cursor_.at(is_symbol ? TokenKind::symbol : TokenKind::string)) {
        return cursor_.unexpected(is_symbol ? "a name such as @f" : "a string");
      }
      TWILL_TRY(const ir::Attribute value, attributes_.attribute());
      draft.attributes.emplace_back(element.name, value);
      return {};
    }
    default:
      return match_keyword(draft, element);
  }
}

Result<void> OpReader::match_keyword(Draft& draft, const FormatElement& element) {
  TWILL_TRY(const Token token, cursor_.expect(TokenKind::identifier, "a keyword"));
  const auto word = std::find(element.words.begin(), element.words.end(), cursor_.text(token));
  if (word == element.words.end()) return cursor_.fail(token, "unknown keyword");
  const std::int64_t number = element.first_number + (word - element.words.begin());
  draft.attributes.emplace_back(element.name, types_.integer(number, types_.scalar(element.type)));
  return {};
}

Result<void> OpReader::match_integers(Draft& draft, const FormatElement& element) {
  std::vector<ir::Attribute> found;
  const ir::Type type = types_.scalar(element.type);
  do {
    const bool negative = cursor_.accept('-');
    TWILL_TRY(const Token token, cursor_.expect(TokenKind::integer, "an integer"));
    const std::string digits = (negative ? "-" : "") + std::string(cursor_.text(token));
    const auto value = integer_value(digits, type);
    if (!value) return cursor_.fail(token, "this number does not fit");
    found.push_back(types_.integer(*value, type));
  } while (element.kind == Kind::integers && cursor_.accept(','));
  const ir::Attribute value =
      element.kind == Kind::integers ? types_.dense_array(type, found) : found.front();
  draft.attributes.emplace_back(element.name, value);
  return {};
}

/// Puts operands in declared order. Custom forms have an order of their own. Adds the sizes of
/// operand groups if several groups are optional.
void OpReader::order_by_role(Draft& draft) {
  const std::span<const OperandRole> roles = roles_of(draft.op);
  if (roles.empty()) {
    for (const auto& [role, value] : draft.by_role) draft.operands.push_back(value);
    return;
  }
  std::vector<ir::Attribute> sizes;
  for (const OperandRole& role : roles) {
    const std::size_t before = draft.operands.size();
    for (const auto& [name, value] : draft.by_role) {
      if (name == role.name) draft.operands.push_back(value);
    }
    const auto size = static_cast<std::int64_t>(draft.operands.size() - before);
    sizes.push_back(types_.integer(size, types_.scalar("i32")));
  }
  if (!has_segment_sizes(draft.op)) return;
  draft.attributes.emplace_back("operandSegmentSizes",
                                types_.dense_array(types_.scalar("i32"), std::move(sizes)));
}

bool OpReader::starts_types() const {
  if (cursor_.at(TokenKind::arrow)) return attributes_.starts_type(1);
  return cursor_.at(':') && (attributes_.starts_type(1) || cursor_.at('<', 1));
}

Result<void> OpReader::type_section(Draft& draft) {
  TypeSection section;
  section.has_arrow = cursor_.at(TokenKind::arrow);
  std::size_t position = 0;
  do {
    cursor_.next();  // skips the ':' or separator
    std::vector<ir::Type>& list = section.has_arrow ? section.after : section.before;
    if (cursor_.at('(')) {
      TWILL_TRY(const auto several, attributes_.type_list());
      list.insert(list.end(), several.begin(), several.end());
    } else {
      TWILL_TRY(const ir::Type one, attributes_.short_type(left_out(draft.op, position)));
      list.push_back(one);
    }
    ++position;
    const bool arrow = cursor_.at(TokenKind::arrow) || cursor_.at_word("to");
    section.has_arrow = section.has_arrow || arrow;
    if (arrow || cursor_.at('*')) continue;
    if (!cursor_.at(',') || !(attributes_.starts_type(1) || cursor_.at('<', 1))) break;
  } while (true);
  draft.types = std::move(section);
  return {};
}

/// Whether `{` opens a dictionary: on the same line, a name and then `=`, `,` or `}` follow, or the
/// line ends.
bool OpReader::starts_dictionary() const {
  if (cursor_.at('}', 1)) return !cursor_.peek(1).first_on_line;
  const bool is_name = cursor_.at(TokenKind::identifier, 1) || cursor_.at(TokenKind::string, 1);
  if (!is_name) return false;
  if (cursor_.at('=', 2) || cursor_.at(',', 2)) return true;
  return cursor_.at('}', 2) && !cursor_.peek(1).first_on_line;
}

/// Reads an unknown op. Operands are its SSA names in the order of the text; the text between them
/// is kept.
Result<void> OpReader::unknown_op(Draft& draft) {
  int open = 0;  // brackets opened by the form itself
  const std::size_t start = cursor_.position();
  while (open > 0 || cursor_.position() == start || !starts_statement()) {
    if (cursor_.position() == start && starts_statement()) break;
    if (open == 0 && attributes_.starts_location()) break;
    TWILL_TRY_VOID(unknown_piece(draft, open));
  }
  const bool is_known = draft.kind != ir::OpKind::other;
  if (is_plain(draft.form, is_known)) draft.form.clear();
  if (draft.kind == ir::OpKind::jump_if && draft.successor_sizes.size() == 2) {
    std::vector<ir::Attribute> sizes{types_.integer(1, types_.scalar("i32"))};
    for (const std::size_t size : draft.successor_sizes) {
      sizes.push_back(types_.integer(static_cast<std::int64_t>(size), types_.scalar("i32")));
    }
    draft.attributes.emplace_back("operandSegmentSizes",
                                  types_.dense_array(types_.scalar("i32"), std::move(sizes)));
  }
  const Format* format = format_of(draft.op);
  const ResultRule rule = format != nullptr ? format->results : ResultRule::listed;
  if (is_known && rule == ResultRule::listed && draft.types.has_arrow &&
      draft.types.after.size() != draft.result_count && draft.types.after.size() != 1) {
    return cursor_.fail(draft.name, std::to_string(draft.types.after.size()) +
                                        " result types, but " + std::to_string(draft.result_count) +
                                        " named results");
  }
  return finish_custom(draft, rule);
}

/// Checks that types stated for operands match their definitions. Ops differ in which operand a
/// type belongs to, so each type must match an operand of its own. Types of yielded values are in
/// order.
Result<void> OpReader::check_stated(const Draft& draft, ResultRule rule) {
  std::vector<ir::Type> stated = draft.types.before;
  const bool ends_in_results = rule == ResultRule::listed || rule == ResultRule::last;
  if (ends_in_results && !draft.types.has_arrow) {
    stated.resize(stated.size() - std::min(stated.size(), draft.result_count));
  }
  const bool moves = rule == ResultRule::only_tokens || draft.result_count == 0;
  if (moves) {  // "source -> destination"
    stated.insert(stated.end(), draft.types.after.begin(), draft.types.after.end());
  }
  const auto type_of = [&](ir::ValueId value) { return builder_.so_far().value(value).type; };
  const bool unknown = std::any_of(draft.operands.begin(), draft.operands.end(),
                                   [&](ir::ValueId value) { return !is_known(type_of(value)); });
  // Older Tritons state the loaded type.
  const bool old =
      rule == ResultRule::pointee && !stated.empty() && ir::element_pointee(stated[0]) == nullptr;
  if (unknown || old || draft.operands.empty()) return {};
  const bool in_turn = draft.kind == ir::OpKind::yield && stated.size() == draft.operands.size();
  std::vector<bool> has_type(draft.operands.size(), false);
  const auto find = [&](ir::Type type) {
    for (std::size_t k = 0; k < draft.operands.size(); ++k) {
      if (!has_type[k] && type_of(draft.operands[k]) == type) {
        has_type[k] = true;
        return true;
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < stated.size(); ++i) {
    if (stated[i]->kind == ir::TypeKind::other) continue;  // short spelling: type unknown
    const bool is_there = in_turn ? type_of(draft.operands[i]) == stated[i] : find(stated[i]);
    if (is_there) continue;
    const ir::ValueId value = draft.operands[std::min(i, draft.operands.size() - 1)];
    const ir::Op& maker = builder_.so_far().op(ir::maker(builder_.so_far(), value));
    return cursor_.fail(
        draft.name,
        "an operand of type " + stated[i]->text + " is stated, but %" +
            builder_.so_far().value(value).name + " has type " + type_of(value)->text,
        "it is made at " + std::to_string(maker.line) + ":" + std::to_string(maker.column));
  }
  return {};
}

Result<void> OpReader::finish_custom(Draft& draft, ResultRule rule) {
  if (draft.kind != ir::OpKind::other) {
    TWILL_TRY_VOID(check_stated(draft, rule));
  }
  const std::string& name = builder_.so_far().op(draft.id).name;
  return finish(draft, result_types(name, rule, draft.types, draft.result_count, types_));
}

Result<void> OpReader::unknown_piece(Draft& draft, int& open) {
  const std::size_t position = cursor_.position();
  const bool spaced = cursor_.spaced(position) && !draft.form.empty();
  const auto add = [&draft, spaced](std::string_view text) {
    draft.form.append(spaced ? " " : "").append(text);
  };
  if (cursor_.at(TokenKind::end) || cursor_.at(TokenKind::error)) {
    return cursor_.unexpected("the end of the operation");
  }
  if (starts_types()) return type_section(draft);
  if (cursor_.at('{')) return unknown_brace(draft);
  if (cursor_.at('<') && cursor_.at('{', 1)) {
    cursor_.next();
    TWILL_TRY_VOID(merge_dictionary(draft));
    TWILL_TRY_VOID(cursor_.expect('>', "behind the properties"));
    return {};
  }
  if (cursor_.at(TokenKind::value)) {
    add("%");
    TWILL_TRY(const ir::ValueId value, operand());
    draft.operands.push_back(value);
    return {};
  }
  if (cursor_.at(TokenKind::label)) return successor(draft);
  if (cursor_.at(TokenKind::hash)) {
    TWILL_TRY(const ir::Attribute attribute, attributes_.attribute());
    add(attribute->text);
    return {};
  }
  if (cursor_.at_word("attributes") && cursor_.at('{', 1)) {
    cursor_.next();
    return {};
  }
  if (cursor_.at('(') || cursor_.at('[')) ++open;
  const bool closes = cursor_.at(')') || cursor_.at(']');
  if (closes && --open < 0) return cursor_.unexpected("the end of the operation");
  if (cursor_.at('}')) return cursor_.unexpected("')' or ']'");
  add(cursor_.text(cursor_.next()));
  return {};
}

Result<void> OpReader::unknown_brace(Draft& draft) {
  if (starts_dictionary()) return merge_dictionary(draft);
  return region(draft.id, {});
}

}  // namespace twill::frontend::ttgir
