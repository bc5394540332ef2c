#include "twill/support/shipped.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "twill/support/shipped_files.h"

namespace twill::support {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "TWILL_DATA_DIR";

/// The folder whose files come first, if the user has one.
Result<std::optional<fs::path>> override_folder() {
  const char* value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  std::error_code ignored;
  if (fs::is_directory(value, ignored)) return fs::path(value);
  return fail({value}, std::string(kVariable) + " names this, and it is no folder",
              "unset it, or let it name a folder with machines/ or runtime/ in it");
}

Result<std::string> text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return fail({path.string()}, "cannot be read");
  return text;
}

}  // namespace

Result<std::vector<std::string>> shipped_names(std::string_view folder) {
  const std::string prefix = std::string(folder) + "/";
  std::set<std::string> names;
  for (const ShippedFile& file : shipped_files()) {
    if (file.name.starts_with(prefix)) names.emplace(file.name);
  }
  TWILL_TRY(const std::optional<fs::path> own, override_folder());
  if (own) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(*own / folder, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code ignored;
      if (!at->is_regular_file(ignored)) continue;
      names.insert(at->path().lexically_relative(*own).generic_string());
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::string> shipped_text(std::string_view name) {
  TWILL_TRY(const std::optional<fs::path> own, override_folder());
  std::error_code ignored;
  if (own && fs::is_regular_file(*own / name, ignored)) return text_of(*own / name);
  for (const ShippedFile& file : shipped_files()) {
    if (file.name == name) return std::string(file.text);
  }
  return fail({std::string(name)}, "Twill ships no such file",
              std::string("a folder that ") + kVariable + " names may have more");
}

}  // namespace twill::support
