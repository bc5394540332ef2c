#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "twill/certify/tiles.h"
#include "twill/driver/driver.h"

namespace twill::driver {
namespace {

namespace fs = std::filesystem;

/// Entries of a folder. Without a range-for, since its steps throw the disk's errors.
Result<std::vector<fs::directory_entry>> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(*at);
  }
  if (error) return fail({folder.string()}, "cannot be read: " + error.message());
  return entries;
}

/// Reads the certificate's own files in one folder; the folder may contain other files.
Result<void> read_folder(const fs::path& folder, const std::string& prefix, certify::Files& files) {
  TWILL_TRY(const std::vector<fs::directory_entry> entries, entries_of(folder));
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    const bool ours = name == certify::kClaimsFile || name == certify::kProblemFile ||
                      name == certify::kPoolsFile || name == certify::kTilesFile ||
                      entry.path().extension() == ".proof";
    if (!ours || !entry.is_regular_file(ignored)) continue;
    TWILL_TRY(Input input, read_input(entry.path().string()));
    files.emplace(prefix + name, std::move(input.text));
  }
  return {};
}

}  // namespace

Result<certify::Files> read_certificate(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return fail({path}, "is no folder with a certificate");
  certify::Files files;
  TWILL_TRY_VOID(read_folder(path, "", files));
  const auto has = [&](std::string_view name) { return files.contains(std::string(name)); };
  const bool has_folders = has(certify::kPoolsFile) || has(certify::kTilesFile);
  if (!has_folders && !has(certify::kClaimsFile)) {
    return fail({path},
                fmt::format("not a certificate folder: it has neither '{}' nor '{}' nor '{}'",
                            certify::kClaimsFile, certify::kPoolsFile, certify::kTilesFile),
                "`twill schedule INPUT --certificate FOLDER` writes one, and `twill tune`");
  }
  if (!has_folders) return files;
  TWILL_TRY(const std::vector<fs::directory_entry> entries, entries_of(path));
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_directory(ignored)) continue;
    TWILL_TRY_VOID(read_folder(entry.path(), entry.path().filename().string() + "/", files));
  }
  return files;
}

}  // namespace twill::driver
