#include "twill/frontend/ttgir/op_reader.h"

#include <algorithm>

#include "twill/frontend/ttgir/literals.h"
#include "twill/frontend/ttgir/lower.h"
#include "twill/frontend/ttgir/nesting.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

/// Whether regions of an op see no values from outside.
bool is_isolated(const ir::Op& op) {
  return op.name.ends_with(".module") || op.name.ends_with(".func") ||
         todays_name(op.name) == "ttg.warp_specialize.partitions";
}

/// Op name that a word without a dialect stands for; empty if none.
std::string_view full_name(std::string_view word) {
  if (word.find('.') != std::string_view::npos) return word;
  if (word == "module") return "builtin.module";
  if (word == "return") return "func.return";
  return word == "call" ? std::string_view("func.call") : std::string_view();
}

}  // namespace

OpReader::OpReader(Cursor& cursor, AttributeReader& attributes, ir::ProgramBuilder& builder)
    : cursor_(cursor),
      attributes_(attributes),
      builder_(builder),
      types_(builder.types()),
      scope_(cursor, builder) {}

Result<void> OpReader::read() {
  std::optional<ir::BlockId> implicit;  // block of a module that the text leaves out
  while (!cursor_.at(TokenKind::end)) {
    if (attributes_.starts_alias_definition()) {
      TWILL_TRY_VOID(attributes_.alias_definition(builder_));
      continue;
    }
    const Token start = cursor_.peek();
    const bool is_module = cursor_.at_word("module") || cursor_.at_word("builtin.module") ||
                           cursor_.text(start) == "\"builtin.module\"";
    if (has_module_) {
      return cursor_.fail(start, "text follows the module",
                          "the text may hold one module: of several dumps, keep one");
    }
    if (!is_module && !implicit) {
      Draft module = begin(ir::BlockId(), "builtin.module", start);
      implicit = builder_.add_block(builder_.add_region(module.id));
      scope_.enter(true);
    }
    has_module_ = is_module && !implicit;
    TWILL_TRY_VOID(statement(implicit.value_or(ir::BlockId())));
  }
  if (implicit) return scope_.leave();
  if (!has_module_) return cursor_.unexpected("a module or a function");
  return {};
}

bool OpReader::starts_statement() const {
  const Token& token = cursor_.peek();
  switch (token.kind) {
    case TokenKind::end:
    case TokenKind::error:
      return true;
    case TokenKind::value: {
      const bool is_result = cursor_.at('=', 1) || (cursor_.at(':', 1) && cursor_.at('=', 3));
      return token.first_on_line || is_result;
    }
    case TokenKind::string:
    case TokenKind::label:
      return token.first_on_line;
    case TokenKind::identifier:
      return token.first_on_line && !full_name(cursor_.text(token)).empty();
    default:
      return cursor_.at('}');
  }
}

Result<void> OpReader::statement(ir::BlockId block) {
  TWILL_NEST(cursor_);
  Draft named;
  TWILL_TRY_VOID(result_names(named));
  const Token token = cursor_.peek();
  const bool is_generic = token.kind == TokenKind::string;
  if (!is_generic && token.kind != TokenKind::identifier) return cursor_.unexpected("an operation");
  const std::string name =
      is_generic ? unescaped(cursor_.text(token)) : std::string(full_name(cursor_.text(token)));
  if (name.empty()) {
    return cursor_.fail(token,
                        "'" + std::string(cursor_.text(token).substr(0, 60)) + "' is no operation",
                        "operations have a dialect in front, as in 'arith.addi'");
  }
  cursor_.next();
  Draft draft = begin(block, name, token);
  draft.results = std::move(named.results);
  draft.result_count = named.result_count;
  return is_generic ? generic_op(draft) : custom_op(draft);
}

Result<void> OpReader::result_names(Draft& draft) {
  if (!cursor_.at(TokenKind::value)) return {};
  do {
    ResultName name;
    TWILL_TRY(name.token, cursor_.expect(TokenKind::value, "the name of a result"));
    if (cursor_.accept(':')) {
      TWILL_TRY(const Token digits, cursor_.expect(TokenKind::integer, "the number of results"));
      const auto count = integer_value(cursor_.text(digits), nullptr);
      constexpr std::int64_t kMostResults = 10000;
      if (!count || *count < 1 || *count > kMostResults) {
        return cursor_.fail(digits, "an operation has 1 to 10000 results");
      }
      name.count = static_cast<std::size_t>(*count);
    }
    draft.result_count += name.count;
    draft.results.push_back(name);
  } while (cursor_.accept(','));
  TWILL_TRY_VOID(cursor_.expect('=', "behind the names of the results"));
  return {};
}

OpReader::Draft OpReader::begin(ir::BlockId block, std::string name, const Token& token) {
  const Location where = cursor_.location(token);
  ir::Op op;
  op.kind = kind_of(name);
  op.name = std::move(name);
  op.block = block;
  op.line = where.line;
  op.column = where.column;
  Draft draft;
  draft.name = token;
  draft.kind = op.kind;
  draft.op = todays_name(op.name);
  draft.id = builder_.add_op(std::move(op));
  return draft;
}

Result<void> OpReader::finish(Draft& draft, std::vector<ir::Type> result_types) {
  if (result_types.size() != draft.result_count) {
    return cursor_.fail(draft.name,
                        "the names give this operation " + std::to_string(draft.result_count) +
                            " results, its types " + std::to_string(result_types.size()));
  }
  builder_.set_operands(draft.id, std::move(draft.operands));
  builder_.set_form(draft.id, std::move(draft.form));
  for (auto& [name, value] : draft.attributes) {
    if (attribute(builder_.so_far().op(draft.id), name) != nullptr) {
      return cursor_.fail(draft.name, "attribute '" + name + "' is given twice");
    }
    builder_.set_attribute(draft.id, std::move(name), value);
  }
  builder_.set_traits(draft.id, lowered(builder_.so_far().op(draft.id)));
  std::size_t next = 0;
  for (const ResultName& name : draft.results) {
    TWILL_TRY(const ir::ValueId first, scope_.define(name.token, name.count, result_types[next]));
    for (std::size_t i = 0; i < name.count; ++i, ++next) {
      const ir::ValueId value(first.index() + i);
      builder_.set_type(value, result_types[next]);
      builder_.define_result(draft.id, value);
    }
  }
  if (attributes_.starts_location()) {
    TWILL_TRY(const ir::Attribute location, attributes_.location());
    builder_.set_location(draft.id, location);
  }
  return {};
}

Result<ir::ValueId> OpReader::operand() {
  TWILL_TRY(const Token name, cursor_.expect(TokenKind::value, "a value such as %0"));
  std::size_t index = 0;
  if (cursor_.at(TokenKind::hash) && !cursor_.spaced(cursor_.position())) {
    const Token token = cursor_.peek();
    const auto number = integer_value(cursor_.text(token).substr(1), nullptr);
    if (!number || *number < 0) return cursor_.fail(token, "expected the number of a result");
    cursor_.next();
    index = static_cast<std::size_t>(*number);
  }
  return scope_.use(name, index);
}

/// Reads values with commas between them, perhaps none.
Result<std::vector<ir::ValueId>> OpReader::operands() {
  std::vector<ir::ValueId> found;
  if (!cursor_.at(TokenKind::value)) return found;
  do {
    TWILL_TRY(const ir::ValueId value, operand());
    found.push_back(value);
  } while (cursor_.accept(','));
  return found;
}

/// Reads "^bb1" or "^bb1(%a, %b : i32, f32)"; the values become operands.
Result<void> OpReader::successor(Draft& draft) {
  TWILL_TRY(const Token label, cursor_.expect(TokenKind::label, "a block such as ^bb1"));
  if (labels_ == nullptr) return cursor_.fail(label, "there are no blocks to branch to here");
  labels_->branches.emplace_back(draft.id, label);
  draft.successor_sizes.push_back(0);
  if (!cursor_.accept('(')) return {};
  TWILL_TRY(const auto values, operands());
  draft.successor_sizes.back() = values.size();
  draft.operands.insert(draft.operands.end(), values.begin(), values.end());
  if (cursor_.accept(':')) {
    do {
      TWILL_TRY_VOID(attributes_.type());
    } while (cursor_.accept(','));
  }
  TWILL_TRY_VOID(cursor_.expect(')', "behind the values for the block"));
  return {};
}

Result<void> OpReader::merge_dictionary(Draft& draft) {
  TWILL_TRY(auto entries, attributes_.dictionary());
  for (auto& entry : entries) {
    if (entry.first == kFormAttribute && entry.second->kind == ir::AttributeKind::string) {
      draft.form = entry.second->value;
    } else {
      draft.attributes.push_back(std::move(entry));
    }
  }
  return {};
}

Result<void> OpReader::region(ir::OpId op, std::span<const EntryArgument> entry) {
  TWILL_NEST(cursor_);
  TWILL_TRY_VOID(cursor_.expect('{', "before the region"));
  const ir::RegionId region = builder_.add_region(op);
  Labels labels;
  Labels* const outer = std::exchange(labels_, &labels);
  scope_.enter(is_isolated(builder_.so_far().op(op)));
  auto read = blocks(region, entry);
  labels_ = outer;
  if (!read) return read;
  for (const auto& [branch, label] : labels.branches) {
    const auto target = labels.blocks.find(cursor_.text(label));
    if (target == labels.blocks.end()) {
      return cursor_.fail(
          label, "there is no block '" + std::string(cursor_.text(label)) + "' in this region");
    }
    builder_.add_successor(branch, target->second);
  }
  TWILL_TRY_VOID(scope_.leave());
  TWILL_TRY_VOID(cursor_.expect('}', "at the end of the region"));
  return {};
}

Result<void> OpReader::blocks(ir::RegionId region, std::span<const EntryArgument> entry) {
  std::optional<ir::BlockId> block;
  if (!entry.empty()) {
    block = builder_.add_block(region);
    for (const EntryArgument& argument : entry) {
      TWILL_TRY_VOID(define_argument(*block, argument));
    }
  }
  while (!cursor_.at('}')) {
    if (cursor_.at(TokenKind::label)) {
      if (block) scope_.enter_next_block();
      TWILL_TRY(block, block_header(region));
      continue;
    }
    if (cursor_.at(TokenKind::end)) return cursor_.unexpected("'}' at the end of a region");
    if (!block) block = builder_.add_block(region);
    TWILL_TRY_VOID(statement(*block));
  }
  return {};
}

/// Reads "^bb0(%arg0: f32, %arg1: f32):".
Result<ir::BlockId> OpReader::block_header(ir::RegionId region) {
  const Token label = cursor_.next();
  const ir::BlockId block = builder_.add_block(region, std::string(cursor_.text(label).substr(1)));
  if (!labels_->blocks.emplace(cursor_.text(label), block).second) {
    return cursor_.fail(label, "there are two blocks of this name in the region");
  }
  if (cursor_.accept('(')) {
    while (!cursor_.at(')')) {
      TWILL_TRY(const EntryArgument next, argument());
      TWILL_TRY_VOID(define_argument(block, next));
      if (!cursor_.accept(',')) break;
    }
    TWILL_TRY_VOID(cursor_.expect(')', "behind the arguments of the block"));
  }
  TWILL_TRY_VOID(cursor_.expect(':', "behind the block's name"));
  return block;
}

Result<OpReader::EntryArgument> OpReader::argument() {
  EntryArgument found;
  TWILL_TRY(found.name, cursor_.expect(TokenKind::value, "an argument such as %arg0"));
  TWILL_TRY_VOID(cursor_.expect(':', "and a type behind the argument"));
  TWILL_TRY(found.type, attributes_.type());
  if (attributes_.starts_location()) {
    TWILL_TRY(found.location, attributes_.location());
  }
  return found;
}

Result<void> OpReader::define_argument(ir::BlockId block, const EntryArgument& argument) {
  TWILL_TRY(const ir::ValueId value, scope_.define(argument.name, 1, argument.type));
  builder_.define_argument(block, value);
  builder_.set_location(value, argument.location);
  return {};
}

/// Reads "name"(%a, %b) [^bb1] <{properties}> ({region}, {region}) {attributes} : (A, B) -> (C).
Result<void> OpReader::generic_op(Draft& draft) {
  TWILL_TRY_VOID(cursor_.expect('(', "and operands behind the name"));
  TWILL_TRY(draft.operands, operands());
  TWILL_TRY_VOID(cursor_.expect(')', "behind the operands"));
  if (cursor_.accept('[')) {
    do {
      TWILL_TRY_VOID(successor(draft));
    } while (cursor_.accept(','));
    TWILL_TRY_VOID(cursor_.expect(']', "behind the successors"));
  }
  if (cursor_.accept('<')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
    TWILL_TRY_VOID(cursor_.expect('>', "behind the properties"));
  }
  if (cursor_.at('(')) {
    TWILL_TRY_VOID(generic_regions(draft));
  }
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  return function_type(draft);
}

Result<void> OpReader::generic_regions(Draft& draft) {
  cursor_.next();
  do {
    TWILL_TRY_VOID(region(draft.id, {}));
  } while (cursor_.accept(','));
  TWILL_TRY_VOID(cursor_.expect(')', "behind the regions"));
  return {};
}

Result<void> OpReader::function_type(Draft& draft) {
  TWILL_TRY_VOID(cursor_.expect(':', "and the types of operands and results"));
  const Token start = cursor_.peek();
  TWILL_TRY(const auto inputs, attributes_.type_list());
  TWILL_TRY_VOID(cursor_.expect(TokenKind::arrow, "'->' between operand and result types"));
  TWILL_TRY(auto outputs, attributes_.type_list());
  if (inputs.size() != draft.operands.size()) {
    return cursor_.fail(start, std::to_string(draft.operands.size()) + " operands, but " +
                                   std::to_string(inputs.size()) + " types");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& value = builder_.so_far().value(draft.operands[i]);
    if (value.type == inputs[i] || value.type->text == kUnknownType) continue;
    return cursor_.fail(
        start, "%" + value.name + " has type " + value.type->text + ", not " + inputs[i]->text);
  }
  if (draft.result_count == 0 && !outputs.empty()) {  // results without names
    TWILL_TRY_VOID(finish(draft, {}));
    for (const ir::Type type : outputs) {
      builder_.define_result(draft.id, builder_.add_value("", type));
    }
    return {};
  }
  return finish(draft, std::move(outputs));
}

}  // namespace twill::frontend::ttgir
