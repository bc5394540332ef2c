#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace twill::gate {

/// Where programs may lie.
struct Places {
  std::string path;       ///< folders, with colons between them
  std::string cuda_home;  ///< a CUDA installation; may be empty
};

/// The variables PATH and CUDA_HOME of this process.
Places places_of_environment();

/// The first program of that name that can be executed in the folders of `path`; a name with a
/// slash is a path itself.
std::optional<std::filesystem::path> find_program(const Places& places, const std::string& name);

/// The programs of a CUDA installation that were found. Nothing of Twill needs them.
struct Toolchain {
  std::optional<std::filesystem::path> nvcc;
  std::optional<std::filesystem::path> nvdisasm;
};

/// Looks for each program in the folders of `path`, in `cuda_home`/bin, and in
/// /usr/local/cuda/bin; the first that can be executed wins.
Toolchain find_toolchain(const Places& places);

}  // namespace twill::gate
