#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "twill/driver/driver.h"

namespace twill::driver {

/// Makes a request for a file of the project, `path` from its top, with default options. Throws if
/// the file cannot be read.
inline Request request_for(const std::string& path) {
  auto input = read_input(std::string(TWILL_SOURCE_DIR) + "/" + path);
  if (!input) throw std::runtime_error(to_string(input.error()));
  Request request;
  request.input = *std::move(input);
  return request;
}

}  // namespace twill::driver
