#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/dialect/type_forms.h"
#include "twill/ir/program.h"

/// Internal to the TTGIR printer: types and attributes, with a short name for each layout.
namespace twill::emit::ttgir {

class Words {
 public:
  explicit Words(dialect::Spelling spelling) : spelling_(spelling) {}

  std::string type(ir::Type type);
  /// "(A, B)", without parentheses for one.
  std::string types(const std::vector<ir::Type>& types);
  std::string attribute(ir::Attribute attribute);
  /// `{a = 1 : i32}`
  std::string entries(const std::vector<ir::NamedAttribute>& entries);
  /// A buffer's type without the name of its kind: "<128x64xf16, ...>".
  std::string short_type(ir::Type type);

  /// "#mma = ..." for all layouts that were asked for, a line each.
  const std::string& definitions() const { return definitions_; }

 private:
  std::string shaped(ir::Type type);
  std::string layout(ir::Attribute layout);
  std::string body(ir::Attribute layout);

  dialect::Spelling spelling_;
  std::map<ir::Attribute, std::string> names_;
  std::map<std::string, int> taken_;
  std::string definitions_;
};

}  // namespace twill::emit::ttgir
