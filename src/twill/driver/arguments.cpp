#include "twill/driver/arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "twill/driver/driver.h"
#include "twill/support/spelling.h"

namespace twill::driver {

Result<void> add_argument(const std::string& text, execute::Launch& launch) {
  const std::size_t begin = text.starts_with('%') ? 1 : 0;
  const std::size_t equals = text.find('=');
  std::string name = text.substr(begin, std::max(equals, begin) - begin);
  if (equals == std::string::npos || name.empty() || equals + 1 == text.size()) {
    return fail({}, "an argument has the form NAME=VALUE, not " + in_quotes(text));
  }
  const std::string value = text.substr(equals + 1);
  if (auto values = execute::read_values(value)) {
    const bool number = values->kind == execute::Values::Kind::constant;
    launch.arguments.erase(name);
    launch.arrays.erase(name);
    if (number) launch.arguments[std::move(name)] = values->first;
    if (!number) launch.arrays[std::move(name)] = *std::move(values);
    return {};
  } else if (std::error_code ignored; !std::filesystem::exists(value, ignored)) {
    Diagnostic wrong = std::move(values).error();
    wrong.message = in_quotes(value) + " is neither a number, nor a range, nor a file";
    return tl::unexpected(std::move(wrong));
  }
  TWILL_TRY(Input file, read_input(value));
  launch.arguments.erase(name);
  if (std::filesystem::path(value).extension() == ".npy") {
    TWILL_TRY(launch.arrays[name], execute::values_of_npy(std::move(file.text), value));
  } else {
    launch.arrays[name] = execute::values_of_bytes(std::move(file.text), value);
  }
  return {};
}

}  // namespace twill::driver
