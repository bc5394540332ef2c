#include <algorithm>
#include <utility>

#include "twill/frontend/ttgir/literals.h"
#include "twill/frontend/ttgir/op_reader.h"

/// Reads ops whose custom syntax names values of their regions.
namespace twill::frontend::ttgir {
/// Reads module @name attributes {...} {...}.
Result<void> OpReader::module_op(Draft& draft) {
  if (cursor_.at(TokenKind::symbol)) {
    const std::string_view name = cursor_.text(cursor_.next()).substr(1);
    draft.attributes.emplace_back("sym_name", types_.string(unescaped(name)));
  }
  if (cursor_.accept_word("attributes")) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  TWILL_TRY_VOID(region(draft.id, {}));
  return finish(draft, {});
}

/// Reads tt.func public @name(%a: T {...}, ...) -> (R {...}) attributes {...} {...}.
Result<void> OpReader::function_op(Draft& draft) {
  for (const std::string_view visibility : {"public", "private", "nested"}) {
    if (!cursor_.accept_word(visibility)) continue;
    draft.attributes.emplace_back("sym_visibility", types_.string(std::string(visibility)));
    break;
  }
  TWILL_TRY(const Token symbol, cursor_.expect(TokenKind::symbol, "the name of the function"));
  const std::string_view name = cursor_.text(symbol).substr(1);
  draft.attributes.emplace_back("sym_name", types_.string(unescaped(name)));
  std::vector<EntryArgument> arguments;
  TWILL_TRY_VOID(function_signature(draft, arguments));
  if (cursor_.accept_word("attributes")) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  if (cursor_.at('{')) {
    const bool named = std::all_of(arguments.begin(), arguments.end(), [](const auto& argument) {
      return argument.name.kind == TokenKind::value;
    });
    if (!named) return cursor_.fail(symbol, "a function with a body names its arguments");
    TWILL_TRY_VOID(region(draft.id, arguments));
  } else {
    builder_.add_region(draft.id);
  }
  return finish(draft, {});
}

Result<void> OpReader::function_signature(Draft& draft, std::vector<EntryArgument>& arguments) {
  TWILL_TRY_VOID(cursor_.expect('(', "before the arguments of the function"));
  std::vector<ir::Attribute> attributes;
  while (!cursor_.at(')')) {
    TWILL_TRY_VOID(function_argument(arguments, attributes));
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(')', "behind the arguments of the function"));
  std::vector<ir::Type> outputs;
  if (cursor_.accept(TokenKind::arrow)) {
    TWILL_TRY(outputs, attributes_.type_list());
  }
  std::vector<ir::Type> inputs;
  bool any = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    inputs.push_back(arguments[i].type);
    any = any || !attributes[i]->entries.empty();
  }
  if (any) draft.attributes.emplace_back("arg_attrs", types_.array(std::move(attributes)));
  draft.attributes.emplace_back("function_type",
                                types_.type(types_.other(ir::function_type_text(inputs, outputs))));
  return {};
}

/// Reads "%arg0: i32 {tt.divisibility = 16 : i32} loc(...)", or "i32" in a declaration.
Result<void> OpReader::function_argument(std::vector<EntryArgument>& arguments,
                                         std::vector<ir::Attribute>& attributes) {
  EntryArgument found;
  if (cursor_.at(TokenKind::value)) {
    TWILL_TRY(found, argument());
  } else {
    TWILL_TRY(found.type, attributes_.type());
  }
  std::vector<ir::NamedAttribute> entries;
  if (cursor_.at('{')) {
    TWILL_TRY(entries, attributes_.dictionary());
  }
  if (attributes_.starts_location()) {
    TWILL_TRY(found.location, attributes_.location());
  }
  attributes.push_back(types_.dictionary(std::move(entries)));
  arguments.push_back(found);
  return {};
}

/// Reads "(%a = %init, ...)": the names go to `arguments`, the values to the operands.
Result<void> OpReader::initial_values(Draft& draft, std::vector<EntryArgument>& arguments) {
  TWILL_TRY_VOID(cursor_.expect('(', "before the loop-carried values"));
  while (!cursor_.at(')')) {
    EntryArgument next;
    TWILL_TRY(next.name, cursor_.expect(TokenKind::value, "a loop-carried value"));
    TWILL_TRY_VOID(cursor_.expect('=', "and an initial value"));
    TWILL_TRY(const ir::ValueId init, operand());
    draft.operands.push_back(init);
    arguments.push_back(next);
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(')', "behind the loop-carried values"));
  return {};
}

Result<void> OpReader::give_types(std::vector<EntryArgument>& arguments, std::size_t first,
                                  const std::vector<ir::Type>& types) {
  if (arguments.size() != first + types.size()) {
    return cursor_.fail(cursor_.peek(), std::to_string(arguments.size() - first) +
                                            " loop-carried values, but " +
                                            std::to_string(types.size()) + " types");
  }
  for (std::size_t i = 0; i < types.size(); ++i) arguments[first + i].type = types[i];
  return {};
}

/// Reads a region. MLIR does not print an scf.yield without values.
Result<void> OpReader::scf_region(ir::OpId op, std::span<const EntryArgument> entry) {
  TWILL_TRY_VOID(region(op, entry));
  const Token& brace = cursor_.tokens()[cursor_.position() - 1];
  const ir::Program& program = builder_.so_far();
  const ir::RegionId region = program.op(op).regions.back();
  if (program.region(region).blocks.empty()) builder_.add_block(region);
  const ir::BlockId block = program.region(region).blocks.back();
  const auto last = ir::terminator(program, block);
  const ir::OpKind kind = last ? program.op(*last).kind : ir::OpKind::other;
  if (kind == ir::OpKind::yield || kind == ir::OpKind::condition) return {};
  begin(block, "scf.yield", brace);
  return {};
}

/// Reads scf.for %i = %a to %b step %c iter_args(%x = %y) -> (T) : i32 {...} {...}.
Result<void> OpReader::for_op(Draft& draft) {
  if (cursor_.accept_word("unsigned")) draft.attributes.emplace_back("unsignedCmp", types_.unit());
  std::vector<EntryArgument> arguments(1);
  TWILL_TRY(arguments[0].name, cursor_.expect(TokenKind::value, "the induction variable"));
  TWILL_TRY_VOID(cursor_.expect('=', "and the lower bound"));
  for (const std::string_view next : {"to", "step", ""}) {
    TWILL_TRY(const ir::ValueId bound, operand());
    draft.operands.push_back(bound);
    if (next.empty()) break;
    TWILL_TRY_VOID(cursor_.expect_word(next, "behind the bound of the loop"));
  }
  std::vector<ir::Type> results;
  if (cursor_.accept_word("iter_args")) {
    TWILL_TRY_VOID(initial_values(draft, arguments));
    TWILL_TRY_VOID(cursor_.expect(TokenKind::arrow, "'->' and the types of the loop's results"));
    TWILL_TRY(results, attributes_.type_list());
  }
  TWILL_TRY_VOID(give_types(arguments, 1, results));
  arguments[0].type = types_.scalar("index");
  if (cursor_.accept(':')) {
    TWILL_TRY(arguments[0].type, attributes_.type());
  }
  TWILL_TRY_VOID(scf_region(draft.id, arguments));
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  return finish(draft, std::move(results));
}

/// Reads scf.if %c -> (T) {...} else {...} {...}.
Result<void> OpReader::if_op(Draft& draft) {
  TWILL_TRY(const ir::ValueId condition, operand());
  draft.operands.push_back(condition);
  std::vector<ir::Type> results;
  if (cursor_.accept(TokenKind::arrow)) {
    TWILL_TRY(results, attributes_.type_list());
  }
  TWILL_TRY_VOID(scf_region(draft.id, {}));
  if (cursor_.accept_word("else")) {
    TWILL_TRY_VOID(scf_region(draft.id, {}));
  } else {
    builder_.add_region(draft.id);  // without a block, as in MLIR
  }
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  return finish(draft, std::move(results));
}

/// Reads scf.while (%a = %init) : (T) -> (U) {...} do {...} attributes {...}.
Result<void> OpReader::while_op(Draft& draft) {
  std::vector<EntryArgument> arguments;
  if (cursor_.at('(')) {
    TWILL_TRY_VOID(initial_values(draft, arguments));
  }
  TWILL_TRY_VOID(cursor_.expect(':', "and the types of the loop"));
  TWILL_TRY(const auto inputs, attributes_.type_list());
  TWILL_TRY_VOID(cursor_.expect(TokenKind::arrow, "'->' and the types of the loop's results"));
  TWILL_TRY(auto results, attributes_.type_list());
  TWILL_TRY_VOID(give_types(arguments, 0, inputs));
  TWILL_TRY_VOID(scf_region(draft.id, arguments));
  TWILL_TRY_VOID(cursor_.expect_word("do", "and the body of the loop"));
  TWILL_TRY_VOID(scf_region(draft.id, {}));
  if (cursor_.accept_word("attributes")) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  return finish(draft, std::move(results));
}

/// Reads arith.constant {...} 1 : i32.
Result<void> OpReader::constant_op(Draft& draft) {
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  TWILL_TRY(const ir::Attribute value, attributes_.attribute());
  draft.attributes.emplace_back("value", value);
  const ir::Type type =
      value->type != nullptr ? value->type : types_.other(std::string(kUnknownType));
  return finish(draft, std::vector<ir::Type>(draft.result_count, type));
}

/// Reads ttg.warp_specialize(%a, ...) attributes {...} default {...} partition0(%x: T) num_warps(4)
/// {...} : (A, ...) -> (R). The partitions are regions of a separate op in the second region.
Result<void> OpReader::warp_specialize_op(Draft& draft) {
  TWILL_TRY_VOID(cursor_.expect('(', "before the captured values"));
  TWILL_TRY(draft.operands, operands());
  TWILL_TRY_VOID(cursor_.expect(')', "behind the captured values"));
  cursor_.accept_word("attributes");
  if (cursor_.at('{')) {
    TWILL_TRY_VOID(merge_dictionary(draft));
  }
  TWILL_TRY_VOID(cursor_.expect_word("default", "before the region of the default warps"));
  TWILL_TRY_VOID(region(draft.id, {}));
  const ir::BlockId block = builder_.add_block(builder_.add_region(draft.id));
  Draft holder = begin(block, "ttg.warp_specialize.partitions", cursor_.peek());
  std::vector<ir::Attribute> warps;
  while (cursor_.at(TokenKind::identifier) &&
         cursor_.text(cursor_.peek()).substr(0, 9) == "partition") {
    TWILL_TRY_VOID(partition(holder, warps));
  }
  draft.attributes.emplace_back("partitionNumWarps",
                                types_.dense_array(types_.scalar("i32"), std::move(warps)));
  TWILL_TRY_VOID(finish(holder, {}));
  TWILL_TRY_VOID(cursor_.expect(':', "and the types of the captured values"));
  TWILL_TRY_VOID(attributes_.type_list());
  TWILL_TRY_VOID(cursor_.expect(TokenKind::arrow, "'->' behind the captured types"));
  TWILL_TRY(auto results, attributes_.type_list());
  return finish(draft, std::move(results));
}

Result<void> OpReader::partition(Draft& holder, std::vector<ir::Attribute>& warps) {
  cursor_.next();
  std::vector<EntryArgument> arguments;
  TWILL_TRY_VOID(cursor_.expect('(', "before the arguments of the partition"));
  while (!cursor_.at(')')) {
    TWILL_TRY(const EntryArgument next, argument());
    arguments.push_back(next);
    if (!cursor_.accept(',')) break;
  }
  TWILL_TRY_VOID(cursor_.expect(')', "behind the arguments of the partition"));
  TWILL_TRY_VOID(cursor_.expect_word("num_warps", "behind the arguments of the partition"));
  TWILL_TRY_VOID(cursor_.expect('(', "behind 'num_warps'"));
  TWILL_TRY(const Token token, cursor_.expect(TokenKind::integer, "a number of warps"));
  const auto count = integer_value(cursor_.text(token), nullptr);
  if (!count || *count < 1 || *count > 64) return cursor_.fail(token, "1 to 64 warps");
  warps.push_back(types_.integer(*count, types_.scalar("i32")));
  TWILL_TRY_VOID(cursor_.expect(')', "behind the number of warps"));
  return region(holder.id, arguments);
}

}  // namespace twill::frontend::ttgir
