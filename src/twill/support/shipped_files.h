#pragma once

#include <span>
#include <string_view>

namespace twill::support {

/// A file that the library carries in itself.
struct ShippedFile {
  std::string_view name;  ///< its path in the source tree: "machines/h200.json"
  std::string_view text;
};

/// All shipped files, by name: machines/ and runtime/ as of the library's build
/// (cmake/TwillShip.cmake writes the definition).
std::span<const ShippedFile> shipped_files();

}  // namespace twill::support
