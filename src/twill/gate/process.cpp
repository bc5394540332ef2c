#include "twill/gate/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "twill/support/check.h"

namespace twill::gate {
namespace {

/// A pipe whose ends are closed when it goes, and in programs started meanwhile.
class Pipe {
 public:
  Pipe() { open_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool is_open() const { return open_; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

  std::array<int, 2> ends_ = {-1, -1};
  bool open_ = false;
};

/// Both output streams go into `pipe`, the input comes from nowhere.
class Redirections {
 public:
  explicit Redirections(const Pipe& pipe) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, pipe.writer(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, pipe.writer(), STDERR_FILENO);
  }
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

using Clock = std::chrono::steady_clock;

/// All that comes until the writers are gone; nothing if they are not when time is up.
std::optional<std::string> read_all(int file, Clock::time_point until) {
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return std::nullopt;
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<Finished> run(const std::vector<std::string>& command, std::chrono::seconds limit) {
  TWILL_CHECK(!command.empty(), "a command names a program");
  Pipe pipe;
  if (!pipe.is_open()) return fail({command[0]}, "no pipe to read from this program");
  std::vector<std::string> words = command;  // posix_spawn takes pointers to non-constant text
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const Redirections redirections(pipe);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, arguments[0], redirections.get(), nullptr, arguments.data(), environ);
  if (error != 0) {
    return fail({command[0]}, std::string("cannot start this program: ") + std::strerror(error));
  }
  pipe.close_writer();
  auto output = read_all(pipe.reader(), Clock::now() + limit);
  if (!output) {
    ::kill(child, SIGKILL);
    wait_for(child);
    return fail({command[0]}, "this program was stopped: it did not end within " +
                                  std::to_string(limit.count()) + " seconds");
  }
  return Finished{wait_for(child), *std::move(output)};
}

}  // namespace twill::gate
