#include "twill/support/data_path.h"

#include <array>
#include <string>
#include <system_error>

namespace twill::support {
namespace {

namespace fs = std::filesystem;

std::array<fs::path, 3> data_folders() {
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  return {executable.parent_path().parent_path() / "share" / "twill", fs::path(TWILL_SOURCE_DIR),
          fs::path(TWILL_INSTALL_DATA_DIR)};
}

}  // namespace

Result<fs::path> data_path(std::string_view name) {
  std::string searched;
  for (const fs::path& folder : data_folders()) {
    std::error_code ignored;
    if (fs::path candidate = folder / name; fs::exists(candidate, ignored)) return candidate;
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  return fail({std::string(name)}, "Twill ships no such file", "searched in " + searched);
}

}  // namespace twill::support
