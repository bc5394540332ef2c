#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "twill/frontend/ttgir/cursor.h"
#include "twill/ir/builder.h"

namespace twill::frontend::ttgir {

/// Reads types, attributes and locations, with the aliases of the whole text.
class AttributeReader {
 public:
  /// Finds all alias definitions; each is read at its first use.
  AttributeReader(Cursor& cursor, ir::TypeTable& types);

  /// Whether a type can start at this token (a type that stands alone, not "<f16>").
  bool starts_type(std::size_t ahead = 0) const;

  Result<ir::Type> type();
  /// Reads a type without its "!dialect.name", such as "<f16>" after `prefix` "!tt.ptr".
  Result<ir::Type> short_type(std::string_view prefix);
  /// Reads "f32" or "(f32, i32)" or "()".
  Result<std::vector<ir::Type>> type_list();

  Result<ir::Attribute> attribute();
  /// Reads "{a = 1 : i32, b}".
  Result<std::vector<ir::NamedAttribute>> dictionary();
  /// Reads "loc(...)".
  Result<ir::Attribute> location();
  bool starts_location() const { return cursor_.at_word("loc") && cursor_.at('(', 1); }

  /// Reads an alias definition, which starts here, into the builder.
  Result<void> alias_definition(ir::ProgramBuilder& builder);
  bool starts_alias_definition() const;

 private:
  // type_reader.cpp
  Result<ir::Type> type_at_bang();
  Result<ir::Type> tensor();
  Result<ir::Type> memdesc(std::string_view spelling);
  Result<void> memdesc_entry(ir::TypeNode& parts);
  Result<ir::Type> pointer();
  Result<ir::Type> descriptor(std::string_view spelling);
  Result<ir::Type> function_type();
  Result<ir::Type> type_alias(const Token& token);
  Result<std::vector<std::int64_t>> extents();
  /// Makes a type from the text from `first` to here, aliases expanded.
  Result<ir::Type> other_type(std::size_t first);

  // attribute_reader.cpp
  Result<ir::Attribute> number();
  Result<ir::Attribute> string();
  Result<ir::Attribute> symbol();
  Result<ir::Attribute> array();
  Result<ir::Attribute> dense_array();
  Result<ir::Attribute> dense();
  Result<ir::Attribute> dense_elements(ir::Type element, std::vector<ir::Attribute>& elements);
  Result<ir::Attribute> literal(ir::Type type);
  Result<ir::Attribute> hash();
  Result<ir::Attribute> dialect_body(const Token& name);
  Result<ir::Attribute> word();
  Result<ir::Attribute> opaque(std::size_t first);
  Result<ir::NamedAttribute> entry();
  Result<std::vector<ir::NamedAttribute>> entries(char close);
  Result<ir::Attribute> attribute_alias(const Token& token);

  // location_reader.cpp
  Result<ir::Attribute> inner_location();
  Result<ir::Attribute> string_location();
  Result<ir::Attribute> callsite();
  Result<ir::Attribute> fused();

  Result<void> check_size(std::size_t bytes);
  Result<std::string> expanded(std::size_t first, std::size_t last);

  struct Alias {
    std::size_t definition = 0;  ///< token after the '='
    ir::Attribute attribute = nullptr;
    ir::Type type = nullptr;
    bool being_read = false;
    bool defined = false;  ///< the reader has passed the definition in the text
  };
  using Aliases = std::unordered_map<std::string_view, Alias>;

  Cursor& cursor_;
  ir::TypeTable& types_;
  Aliases aliases_;  ///< names with their # or !
  int depth_ = 0;
  bool in_body_ = false;  ///< in the body of a dialect attribute: numbers without a type keep none
  std::size_t bytes_ = 0;
};

/// Deepest nesting of regions, types, attributes and locations in each other.
constexpr int kDeepest = 200;

}  // namespace twill::frontend::ttgir
