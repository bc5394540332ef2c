#include "twill/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace twill::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Diagnostic> cannot_write(const std::string& what, int error) {
  return fail({what}, std::string("cannot be written: ") + std::strerror(error));
}

/// All of `text`, or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Opens, writes and closes; errno of whatever went wrong first.
int write_to(const std::string& path, int flags, std::string_view text) {
  const int descriptor = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  int error = write_all(descriptor, text);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

/// Where a symbolic link leads in the end, even if nothing is there yet.
fs::path without_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as the kernel has it; a circle of links ends as one
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

}  // namespace

Result<void> print(std::string_view text) {
  std::fflush(stdout);
  if (const int error = write_all(STDOUT_FILENO, text)) {
    return cannot_write("standard output", error);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print(text);
  std::error_code ignored;
  const fs::path target = without_links(path);
  if (fs::is_directory(target, ignored)) return cannot_write(path, EISDIR);
  if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) {
    if (const int error = write_to(target.string(), 0, text)) return cannot_write(path, error);
    return {};
  }
  const std::string temporary = target.string() + ".twill-" + std::to_string(::getpid());
  int error = write_to(temporary, O_CREAT | O_EXCL, text);
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return cannot_write(path, error);
  }
  return {};
}

}  // namespace twill::cli
