#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "twill/frontend/ttgir/attribute_reader.h"
#include "twill/frontend/ttgir/result_types.h"
#include "twill/frontend/ttgir/scope.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {

/// Attribute for Op::form in the generic form.
constexpr std::string_view kFormAttribute = "twill.form";

/// Reads the ops of a text into a builder.
class OpReader {
 public:
  OpReader(Cursor& cursor, AttributeReader& attributes, ir::ProgramBuilder& builder);

  /// Reads the whole text: aliases, and one module or its ops.
  Result<void> read();

 private:
  /// Result name "%5" or "%5:3" in front of an op.
  struct ResultName {
    Token token;
    std::size_t count = 1;
  };

  /// An op during reading. The builder has only its name before `finish`.
  struct Draft {
    ir::OpId id;
    Token name;
    std::string op;  ///< name in today's Triton
    ir::OpKind kind = ir::OpKind::other;
    std::vector<ResultName> results;
    std::size_t result_count = 0;
    std::vector<ir::ValueId> operands;
    std::vector<std::pair<std::string_view, ir::ValueId>> by_role;
    std::vector<ir::NamedAttribute> attributes;
    std::vector<std::size_t> successor_sizes;  ///< number of values for each successor
    std::string form;
    TypeSection types;
  };

  /// A block argument that custom syntax names before the region.
  struct EntryArgument {
    Token name;
    ir::Type type = nullptr;
    ir::Attribute location = nullptr;
  };

  /// Labels of the current region, and the branches to them.
  struct Labels {
    std::unordered_map<std::string_view, ir::BlockId> blocks;
    std::vector<std::pair<ir::OpId, Token>> branches;
  };

  // op_reader.cpp: common parts of all ops
  Result<void> statement(ir::BlockId block);
  Result<void> result_names(Draft& draft);
  Draft begin(ir::BlockId block, std::string name, const Token& token);
  Result<void> finish(Draft& draft, std::vector<ir::Type> result_types);
  Result<ir::ValueId> operand();
  Result<std::vector<ir::ValueId>> operands();
  Result<void> successor(Draft& draft);
  Result<void> merge_dictionary(Draft& draft);
  Result<void> region(ir::OpId op, std::span<const EntryArgument> entry);
  Result<void> blocks(ir::RegionId region, std::span<const EntryArgument> entry);
  Result<ir::BlockId> block_header(ir::RegionId region);
  Result<void> define_argument(ir::BlockId block, const EntryArgument& argument);
  Result<EntryArgument> argument();
  Result<void> generic_op(Draft& draft);
  Result<void> generic_regions(Draft& draft);
  Result<void> function_type(Draft& draft);
  bool starts_statement() const;

  // custom_ops.cpp: ops with a format, and unknown ops
  Result<void> custom_op(Draft& draft);
  Result<void> formatted_op(Draft& draft, const Format& format);
  Result<void> match(Draft& draft, const std::vector<FormatElement>& elements);
  Result<void> match_one(Draft& draft, const FormatElement& element);
  Result<void> match_keyword(Draft& draft, const FormatElement& element);
  Result<void> match_integers(Draft& draft, const FormatElement& element);
  bool is_next(const FormatElement& element) const;
  void order_by_role(Draft& draft);
  Result<void> finish_custom(Draft& draft, ResultRule rule);
  Result<void> check_stated(const Draft& draft, ResultRule rule);
  Result<void> unknown_op(Draft& draft);
  Result<void> unknown_piece(Draft& draft, int& open);
  Result<void> unknown_brace(Draft& draft);
  Result<void> type_section(Draft& draft);
  bool starts_types() const;
  bool starts_dictionary() const;

  // structured_ops.cpp: ops with a syntax of their own
  Result<void> scf_region(ir::OpId op, std::span<const EntryArgument> entry);
  Result<void> module_op(Draft& draft);
  Result<void> function_op(Draft& draft);
  Result<void> function_signature(Draft& draft, std::vector<EntryArgument>& arguments);
  Result<void> function_argument(std::vector<EntryArgument>& arguments,
                                 std::vector<ir::Attribute>& attributes);
  Result<void> for_op(Draft& draft);
  Result<void> if_op(Draft& draft);
  Result<void> while_op(Draft& draft);
  Result<void> initial_values(Draft& draft, std::vector<EntryArgument>& arguments);
  Result<void> give_types(std::vector<EntryArgument>& arguments, std::size_t first,
                          const std::vector<ir::Type>& types);
  Result<void> constant_op(Draft& draft);
  Result<void> warp_specialize_op(Draft& draft);
  Result<void> partition(Draft& holder, std::vector<ir::Attribute>& warps);

  Cursor& cursor_;
  AttributeReader& attributes_;
  ir::ProgramBuilder& builder_;
  ir::TypeTable& types_;
  Scope scope_;
  Labels* labels_ = nullptr;
  bool has_module_ = false;
  int depth_ = 0;
};

}  // namespace twill::frontend::ttgir
