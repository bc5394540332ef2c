#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

/// Internal to the text form: words, numbers and signs.
namespace twill::tasks {

struct Token {
  enum class Kind {
    word,
    number,
    sign,
    code,
    end
  };  ///< code is between triple quotes, which are left out
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t at = 0;  ///< byte in the text
  Location location;
};

/// Splits a text into tokens; the last is the end. Comments begin with # or // and end with the
/// line.
Result<std::vector<Token>> tokens_of(std::string_view text, const std::string& file_name);

}  // namespace twill::tasks
