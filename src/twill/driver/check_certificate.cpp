#include <filesystem>
#include <system_error>

#include "twill/driver/driver.h"

namespace twill::driver {
namespace {

namespace fs = std::filesystem;

/// The certificate's own files in one folder; a folder may hold others.
Result<void> read_folder(const fs::path& folder, const std::string& prefix, certify::Files& files) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == certify::kClaimsFile || name == certify::kProblemFile ||
                      name == certify::kPoolsFile || entry.path().extension() == ".proof";
    if (!ours || !entry.is_regular_file(error)) continue;
    TWILL_TRY(Input input, read_input(entry.path().string()));
    files.emplace(prefix + name, std::move(input.text));
  }
  if (!error) return {};
  return fail({folder.string()}, "cannot be read: " + error.message());
}

}  // namespace

Result<certify::Files> read_certificate(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return fail({path}, "is no folder with a certificate");
  certify::Files files;
  TWILL_TRY_VOID(read_folder(path, "", files));
  if (!files.contains(std::string(certify::kPoolsFile))) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (!entry.is_directory(error)) continue;
    TWILL_TRY_VOID(read_folder(entry.path(), entry.path().filename().string() + "/", files));
  }
  return files;
}

}  // namespace twill::driver
