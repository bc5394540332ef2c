#include "twill/cli/output.h"

#include <algorithm>
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

/// Writes all of `text`; returns errno of a failure, else 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

constexpr mode_t kMode = 0666;  ///< mode of new files; the umask of the process applies

/// Opens, writes and closes; returns errno of the first failure.
int write_to(const std::string& path, int flags, std::string_view text, mode_t mode = kMode) {
  const int descriptor = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor < 0) return errno;
  int error = write_all(descriptor, text);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

/// Writes a file beside the target, which it will replace. It has the mode of an old target, so
/// that no others can read it. Returns errno of the first failure.
int write_beside(const fs::path& target, const std::string& fresh, std::string_view text) {
  std::error_code error;
  const fs::file_status old = fs::status(target, error);
  if (!fs::exists(old)) return write_to(fresh, O_CREAT | O_EXCL, text);
  const int wrong =
      write_to(fresh, O_CREAT | O_EXCL, text, static_cast<mode_t>(old.permissions()) & kMode);
  if (wrong != 0) return wrong;
  fs::permissions(fresh, old.permissions(), error);
  return error.value();
}

/// The file at the end of a chain of symbolic links, even if the file does not exist yet.
fs::path without_links(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux; a circle of links is returned as a link
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

/// Writes the files below a new folder; returns errno of the first failure.
int write_below(const fs::path& folder, const std::map<std::string, std::string>& files) {
  std::error_code error;
  if (!fs::create_directory(folder, error)) return error ? error.value() : EEXIST;
  for (const auto& [name, text] : files) {
    const fs::path file = folder / name;
    fs::create_directories(file.parent_path(), error);
    if (error) return error.value();
    if (const int wrong = write_to(file.string(), O_CREAT | O_EXCL, text)) return wrong;
  }
  return 0;
}

/// Moves all entries of a folder into another, except names with that prefix. Returns errno of the
/// first failure.
int move_entries(const fs::path& from, const fs::path& to, const std::string& but_for) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const bool stays = !but_for.empty() && at->path().filename().string().starts_with(but_for);
    if (!stays) entries.push_back(at->path());
  }
  if (error) return error.value();
  for (const fs::path& it : entries) {
    if (std::rename(it.c_str(), (to / it.filename()).c_str()) != 0) return errno;
  }
  return 0;
}

/// Replaces the entries of a folder that must stay in place. Returns errno of the first failure,
/// after which the folder has its old entries.
int replace_within(const fs::path& folder, const std::string& suffix,
                   const std::map<std::string, std::string>& files) {
  const fs::path fresh = folder / suffix;
  const fs::path old = folder / (suffix + "-old");
  std::error_code error;
  int wrong = write_below(fresh, files);
  if (wrong == 0 && !fs::create_directory(old, error)) wrong = error ? error.value() : EEXIST;
  if (wrong == 0) {
    wrong = move_entries(folder, old, suffix);
    if (wrong == 0) {
      wrong = move_entries(fresh, folder, "");
      if (wrong != 0) move_entries(folder, fresh, suffix);
    }
    if (wrong != 0) move_entries(old, folder, "");
  }
  fs::remove_all(fresh, error);
  if (wrong == 0 || fs::is_empty(old, error)) fs::remove_all(old, error);
  return wrong;
}

/// Whether this is the current folder of the program, and of the shell that called it.
bool is_current(const fs::path& folder) {
  std::error_code ignored;
  return fs::equivalent(folder, fs::current_path(ignored), ignored);
}

bool is_replaceable(const fs::path& folder, const std::vector<std::string>& marks) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  if (fs::is_empty(folder, ignored)) return true;
  return std::any_of(marks.begin(), marks.end(), [&](const std::string& mark) {
    return fs::is_regular_file(folder / mark, ignored);
  });
}

}  // namespace

Result<void> print(std::string_view text) {
  std::fflush(stdout);
  if (const int error = write_all(STDOUT_FILENO, text)) {
    return cannot_write("standard output", error);
  }
  return {};
}

Result<void> print_last(std::string_view text) {
  if (auto printed = print(text); !printed) return printed;
  // The descriptor's number stays in use, so that no file opened later has it.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return cannot_write("/dev/null", errno);
  const int error = ::dup2(nowhere, STDOUT_FILENO) < 0 ? errno : 0;
  ::close(nowhere);
  if (error != 0) return cannot_write("standard output", error);
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
  int error = write_beside(target, temporary, text);
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return cannot_write(path, error);
  }
  return {};
}

Result<void> write_folder(const std::string& path, const std::map<std::string, std::string>& files,
                          const std::vector<std::string>& marks) {
  std::error_code error;
  fs::path target = without_links(path);
  if (!target.has_filename()) target = target.parent_path();
  const bool exists = fs::exists(target, error);
  if (exists) {  // the path "x/." has no name of its own
    const fs::path whole = fs::canonical(target, error);
    if (!error) target = whole;
  }
  if (exists && !is_replaceable(target, marks)) {
    return fail({path}, "is there already, and nothing that may be replaced");
  }
  const std::string suffix = ".twill-" + std::to_string(::getpid());
  // "." cannot be moved: a shell in it would stay in the old folder.
  if (exists && is_current(target)) {
    if (const int wrong = replace_within(target, suffix, files)) return cannot_write(path, wrong);
    return {};
  }
  const fs::path fresh = target.string() + suffix;
  const fs::path old = target.string() + suffix + "-old";
  int wrong = write_below(fresh, files);
  if (wrong == 0 && exists && std::rename(target.c_str(), old.c_str()) != 0) wrong = errno;
  if (wrong == 0 && std::rename(fresh.c_str(), target.c_str()) != 0) {
    wrong = errno;
    if (exists) std::rename(old.c_str(), target.c_str());
  }
  if (wrong == 0) {
    fs::remove_all(old, error);
    return {};
  }
  fs::remove_all(fresh, error);
  return cannot_write(path, wrong);
}

}  // namespace twill::cli
