#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::machine {

/// A JSON value, with the members of an object in the order of their names.
struct JsonValue {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool flag = false;
  double number = 0;
  bool whole = false;  ///< whether the number is written as an integer
  std::string text;
  std::vector<JsonValue> items;    ///< elements of a list, or values of the members of an object
  std::vector<std::string> names;  ///< names of the members, one for each item
};

/// Reads a JSON text. Fails with the place for what is not JSON, nested more than 64 deep, or has
/// a member twice in one object.
Result<JsonValue> parse_json(std::string_view text, const std::string& file);

}  // namespace twill::machine
