#include "twill/gate/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "twill/support/check.h"

namespace twill::gate {
namespace {

/// A pipe that its destructor closes, and whose ends are closed in programs that are started
/// meanwhile.
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

/// Data for the processes between this process and the program, made before the first fork. After a
/// fork only calls that are safe in signal handlers may be made.
struct Start {
  char* const* arguments;
  char* const* environment;
  int output;   ///< both streams of the program are written here
  int failure;  ///< errno is written here if the program cannot be started
  pid_t parent;
};

extern "C" void kill_own_group(int) { ::kill(0, SIGKILL); }

void on_signal(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigaction(number, &action, nullptr);
}

[[noreturn]] void become_program(const Start& start) {
  on_signal(SIGTERM, SIG_DFL);
  on_signal(SIGPIPE, SIG_DFL);  // the command line ignores this signal
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0 && ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(start.output, STDOUT_FILENO) >= 0 &&
      ::dup2(start.output, STDERR_FILENO) >= 0) {
    ::execve(start.arguments[0], start.arguments, start.environment);
  }
  const int error = errno;
  while (::write(start.failure, &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The program's guard. It leads the process group and ends as the program does. When this process
/// dies, the kernel tells the guard, which takes the group along.
[[noreturn]] void become_guard(const Start& start) {
  ::setpgid(0, 0);
  on_signal(SIGTERM, kill_own_group);
  sigset_t all;
  sigemptyset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != start.parent) ::_exit(127);  // the parent died before the prctl
  const pid_t program = ::fork();
  if (program == 0) become_program(start);
  if (program < 0) {
    const int error = errno;
    while (::write(start.failure, &error, sizeof error) < 0 && errno == EINTR) {
    }
    ::_exit(127);
  }
  ::close(start.output);  // the program's end closes them
  ::close(start.failure);
  ::_exit(status_of(program));
}

/// errno of a start that failed, or 0.
int failure_of_start(int file) {
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(file, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

using Clock = std::chrono::steady_clock;

enum class Stopped { no, by_time, by_request };

/// Reads until all writers have closed, or until the reading is stopped.
Stopped read_all(int file, Clock::time_point until, const GoOn& go_on, std::string& text) {
  constexpr std::chrono::milliseconds kTick{100};
  std::array<char, 4096> block;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return Stopped::by_time;
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(left, kTick).count()));
    if (go_on && !go_on()) return Stopped::by_request;
    if (ready <= 0) continue;
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Stopped::no;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

/// Pointers as exec takes them: to text that is not constant, with a null at the end.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Finished> run(const std::vector<std::string>& command, std::chrono::seconds limit,
                     const GoOn& go_on, const std::vector<std::string>& variables) {
  TWILL_CHECK(!command.empty(), "a command names a program");
  Pipe output, failure;
  if (!output.is_open() || !failure.is_open()) {
    return fail({command[0]}, "no pipe to read from this program");
  }
  std::vector<std::string> words = command;
  std::vector<std::string> settings = variables;
  const std::vector<char*> arguments = pointers_to(words);
  std::vector<char*> environment = pointers_to(settings);
  environment.pop_back();  // the null at the end is added last
  for (char** it = ::environ; *it != nullptr; ++it) environment.push_back(*it);
  environment.push_back(nullptr);

  const Start start{arguments.data(), environment.data(), output.writer(), failure.writer(),
                    ::getpid()};
  const pid_t guard = ::fork();
  if (guard == 0) become_guard(start);
  int error = guard < 0 ? errno : 0;
  if (guard > 0) {
    ::setpgid(guard, guard);  // both processes call it, so the group exists when either goes on
    output.close_writer();
    failure.close_writer();
    error = failure_of_start(failure.reader());
    if (error != 0) status_of(guard);
  }
  if (error != 0) {
    return fail({command[0]}, std::string("cannot start this program: ") + std::strerror(error));
  }
  Finished finished;
  const Stopped stopped = read_all(output.reader(), Clock::now() + limit, go_on, finished.output);
  if (stopped != Stopped::no) ::kill(-guard, SIGKILL);
  finished.status = status_of(guard);
  if (stopped == Stopped::by_request) return fail({command[0]}, "this program was stopped");
  if (stopped == Stopped::by_time) {
    return fail({command[0]}, "this program was stopped: it did not end within " +
                                  std::to_string(limit.count()) + " seconds");
  }
  return finished;
}

}  // namespace twill::gate
