#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace twill::gate {

/// Folders in which programs may lie.
struct Places {
  std::string path;       ///< folders, with colons between them
  std::string cuda_home;  ///< a CUDA installation; may be empty
  /// A folder with CUDA installations `cuda` and `cuda-VERSION`.
  std::filesystem::path local = "/usr/local";
};

/// The variables PATH and CUDA_HOME of this process.
Places places_of_environment();

/// The first program of that name that can be executed in the folders of `path`; a name with a
/// slash is a path itself.
std::optional<std::filesystem::path> find_program(const Places& places, const std::string& name);

/// The programs of a CUDA installation that were found. Twill works without any of them.
struct Toolchain {
  std::optional<std::filesystem::path> nvcc;
  std::optional<std::filesystem::path> nvdisasm;
};

/// Looks for each program in the folders of `path`, in `cuda_home`/bin, in `local`/cuda/bin and in
/// `local`/cuda-*/bin, the newest version first. The first that can be executed wins. Without an
/// nvdisasm there, an installed Triton's is taken: triton/backends/nvidia/bin in a folder that the
/// python3 of `path` imports from. No module is imported. Cost: looking at some files, and for
/// Triton's nvdisasm the start of a Python.
Toolchain find_toolchain(const Places& places);

/// Release of a program by its `--version`: "13.0, V13.0.48". Empty if the output names no release.
std::string version_of(const std::filesystem::path& program);

}  // namespace twill::gate
