#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "twill/emit/description.h"
#include "twill/gate/process.h"

namespace twill::run {

/// Base of the exit status of a program that a signal ended: this number plus the signal's number.
inline constexpr int kSignalled = 128;

/// Finds a compiler for the host: $CXX, or else the first of c++, g++ and clang++ on PATH. Fails if
/// none exists, or if the program in $CXX does not exist.
Result<std::vector<std::string>> host_compiler();

/// A program that was built, or the compiler's first complaints.
struct Built {
  std::filesystem::path program;        ///< empty: the text does not compile
  std::vector<std::string> complaints;  ///< lines
};

/// Builds programs that call emitted kernels by the executor in runtime/host.
class Builder {
 public:
  /// `runtime`: the folder with host/. `scratch`: an existing folder, for files common to all
  /// kernels. `go_on`: called while the compiler runs; false stops the compiler.
  Builder(std::filesystem::path runtime, std::filesystem::path scratch,
          std::vector<std::string> compiler, gate::GoOn go_on = {})
      : runtime_(std::move(runtime)),
        scratch_(std::move(scratch)),
        compiler_(std::move(compiler)),
        go_on_(std::move(go_on)) {}

  /// Writes main.cpp into `folder`, which exists, beside a copy of `source`, the text of the
  /// kernel.cu in `home`. Compiles both with the headers of runtime/ in `home`. Fails if the
  /// compiler cannot be run or fails without a message, or if a file cannot be written. Fails if
  /// the executor does not compile, or `go_on` stops the compiler. Cost: some seconds.
  Result<Built> build(const emit::Description& description, const std::string& source,
                      const std::filesystem::path& home, const std::filesystem::path& folder);

 private:
  Result<std::filesystem::path> executor();

  std::filesystem::path runtime_;
  std::filesystem::path scratch_;
  std::vector<std::string> compiler_;
  gate::GoOn go_on_;
  std::filesystem::path executor_;  ///< compiled; empty: not compiled yet
};

/// A folder that the destructor removes, with its contents.
class Scratch {
 public:
  static Result<Scratch> make();
  ~Scratch();
  Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Scratch& operator=(Scratch&&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Keeps the folder when the object ends.
  void keep() { path_.clear(); }

 private:
  explicit Scratch(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Writes a file. Fails with the system's reason.
Result<void> write_bytes(const std::filesystem::path& path, std::string_view bytes);

}  // namespace twill::run
