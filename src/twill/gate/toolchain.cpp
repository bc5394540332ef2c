#include "twill/gate/toolchain.h"

#include <cstdlib>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace twill::gate {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_on(std::string_view path) {
  std::vector<fs::path> folders;
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    if (colon > 0) folders.emplace_back(path.substr(0, colon));
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return folders;
}

std::vector<fs::path> folders_of(const Places& places) {
  std::vector<fs::path> folders = folders_on(places.path);
  if (!places.cuda_home.empty()) folders.push_back(fs::path(places.cuda_home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

std::optional<fs::path> find(const std::vector<fs::path>& folders, const char* program) {
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    fs::path candidate = folder / program;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Places places_of_environment() { return {variable("PATH"), variable("CUDA_HOME")}; }

std::optional<fs::path> find_program(const Places& places, const std::string& name) {
  return name.find('/') != std::string::npos ? find({fs::path()}, name.c_str())
                                             : find(folders_on(places.path), name.c_str());
}

Toolchain find_toolchain(const Places& places) {
  const std::vector<fs::path> folders = folders_of(places);
  return {find(folders, "nvcc"), find(folders, "nvdisasm")};
}

}  // namespace twill::gate
