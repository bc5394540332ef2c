#pragma once

#include <string>
#include <utility>
#include <vector>

#include "twill/dialect/words.h"

namespace twill::dialect {

/// An operation with names for its values. Operands stand in declared order.
struct Phrase {
  struct Operand {
    std::string name;  ///< with its %
    ir::Type type = nullptr;
  };
  std::string op;
  std::vector<Operand> operands = {};
  std::vector<ir::NamedAttribute> attributes = {};
  std::vector<std::string> results = {};
  std::vector<ir::Type> result_types = {};
  std::string form = {};  ///< as ir::Op::form
};

/// Spells the operation in its custom form, by the formats that the reader uses: "%a = tt.load %b,
/// %c : tensor<..>". An op without such a form is spelled in the generic form.
std::string spell(const Phrase& phrase, Words& words);

/// Generic form of an op with a region: `%a = "tt.reduce"(%b)`, and the text that follows the
/// region.
std::pair<std::string, std::string> around_region(const Phrase& phrase, Words& words);

}  // namespace twill::dialect
