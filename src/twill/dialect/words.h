#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "twill/dialect/type_forms.h"
#include "twill/ir/program.h"

namespace twill::dialect {

/// Spells types and attributes, with short names for some.
class Words {
 public:
  /// `names_layouts`: each layout gets a name at its first use, such as "#mma".
  explicit Words(Spelling spelling, bool names_layouts = false)
      : spelling_(spelling), names_layouts_(names_layouts) {}

  /// Gives an attribute its name in the text, with its # or !.
  void name(ir::Attribute attribute, std::string name);
  void name(ir::Type type, std::string name);
  /// The name of an attribute; null if it has none.
  const std::string* name_of(ir::Attribute attribute) const;

  std::string type(ir::Type type);
  /// "A, B"
  std::string list(const std::vector<ir::Type>& types);
  /// A list of types in parentheses, unless it has a single type.
  std::string types(const std::vector<ir::Type>& types);
  std::string attribute(ir::Attribute attribute);
  /// `{a = 1 : i32}`
  std::string entries(const std::vector<ir::NamedAttribute>& entries);
  /// A buffer's type without the name of its kind: "<128x64xf16, ...>".
  std::string short_type(ir::Type type) { return "<" + shaped(type) + ">"; }

  /// "#mma = ..." for all layouts that got a name, a line each.
  const std::string& definitions() const { return definitions_; }

 private:
  std::string shaped(ir::Type type);
  std::string body(ir::Attribute layout);

  Spelling spelling_;
  bool names_layouts_;
  std::unordered_map<ir::Attribute, std::string> attribute_names_;
  std::unordered_map<ir::Type, std::string> type_names_;
  std::unordered_map<std::string, int> taken_;
  std::string definitions_;
};

}  // namespace twill::dialect
