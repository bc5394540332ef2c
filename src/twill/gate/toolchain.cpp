#include "twill/gate/toolchain.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "twill/gate/process.h"

namespace twill::gate {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_of(std::string_view rest) {
  std::vector<fs::path> folders;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return folders;
}

/// The numbers in "cuda-12.9".
std::vector<int> numbers_in(std::string_view name) {
  std::vector<int> numbers;
  bool inside = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.push_back(0);
    if (digit && numbers.back() < 100'000) numbers.back() = 10 * numbers.back() + (c - '0');
    inside = digit;
  }
  return numbers;
}

/// The folders of programs in the CUDA installations below `local`.
std::vector<fs::path> installations(const fs::path& local) {
  std::vector<fs::path> versions;
  std::error_code error;
  for (fs::directory_iterator at(local, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with("cuda-")) versions.push_back(at->path());
  }
  std::sort(versions.begin(), versions.end(), [](const fs::path& a, const fs::path& b) {
    const auto key = [](const fs::path& it) {
      return std::pair(numbers_in(it.filename().string()), it.filename().string());
    };
    return key(a) > key(b);
  });
  versions.insert(versions.begin(), local / "cuda");
  for (fs::path& version : versions) version /= "bin";
  return versions;
}

std::optional<fs::path> find(const std::vector<fs::path>& folders, std::string_view program) {
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

constexpr std::chrono::seconds kLongestAnswer{
    20};  // for programs that only print their version or paths

/// The folders that this Python imports from. Only its start is needed, no import.
std::vector<fs::path> import_folders(const fs::path& python) {
  const auto finished =
      run({python.string(), "-c", "import sys; print(*sys.path, sep='\\n')"}, kLongestAnswer);
  std::vector<fs::path> folders;
  if (!finished || finished->status != 0) return folders;
  std::istringstream lines(finished->output);
  for (std::string line; std::getline(lines, line);) {
    if (fs::path folder = line; folder.is_absolute()) folders.push_back(std::move(folder));
  }
  return folders;
}

std::optional<fs::path> nvdisasm_of_triton(const std::vector<fs::path>& path) {
  const std::optional<fs::path> python = find(path, "python3");
  if (!python) return std::nullopt;
  std::vector<fs::path> folders = import_folders(*python);
  for (fs::path& folder : folders) folder /= "triton/backends/nvidia/bin";
  return find(folders, "nvdisasm");
}

}  // namespace

Places places_of_environment() { return {variable("PATH"), variable("CUDA_HOME")}; }

std::optional<fs::path> find_program(const Places& places, const std::string& name) {
  return name.find('/') != std::string::npos ? find({fs::path()}, name.c_str())
                                             : find(folders_of(places.path), name.c_str());
}

Toolchain find_toolchain(const Places& places) {
  const std::vector<fs::path> path = folders_of(places.path);
  std::vector<fs::path> folders = path;
  if (!places.cuda_home.empty()) folders.push_back(fs::path(places.cuda_home) / "bin");
  const std::vector<fs::path> installed = installations(places.local);
  folders.insert(folders.end(), installed.begin(), installed.end());
  Toolchain found{find(folders, "nvcc"), find(folders, "nvdisasm")};
  if (!found.nvdisasm) found.nvdisasm = nvdisasm_of_triton(path);
  return found;
}

std::string version_of(const fs::path& program) {
  constexpr std::string_view kRelease = ", release ";
  const auto finished = run({program.string(), "--version"}, kLongestAnswer);
  if (!finished || finished->status != 0) return {};
  const std::string& text = finished->output;
  const std::size_t at = text.find(kRelease);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kRelease.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace twill::gate
