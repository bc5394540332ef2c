#pragma once

#include <string>
#include <utility>
#include <vector>

#include "twill/emit/ttgir/words.h"

/// Internal to the TTGIR printer: one operation in its custom form, by the formats that the reader
/// has.
namespace twill::emit::ttgir {

/// An operation with names for its values.
struct Phrase {
  struct Operand {
    std::string role;  ///< as dialect/roles.h has it; empty if its op has none
    std::string name;  ///< with its %
    ir::Type type = nullptr;
  };
  std::string op;
  std::vector<Operand> operands;
  std::vector<ir::NamedAttribute> attributes;
  std::vector<std::string> results;
  std::vector<ir::Type> result_types;
  std::string form;  ///< as ir::Op::form
};

/// "%a = tt.load %b, %c : tensor<..>", without its region where it has one.
std::string spell(const Phrase& phrase, Words& words);

/// The generic form up to the region, `%a = "tt.reduce"(%b)`, and what comes behind it.
std::pair<std::string, std::string> around_region(const Phrase& phrase, Words& words);

}  // namespace twill::emit::ttgir
