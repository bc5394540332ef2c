#include "twill/cli/progress.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace twill::cli {
namespace {

/// One line on standard error that is rewritten, at most ten times a second, after the first one.
class StatusLine {
 public:
  void show(const std::string& text) {
    const Clock::time_point now = Clock::now();
    if (now - start_ < std::chrono::seconds(1) || now - shown_ < std::chrono::milliseconds(100)) {
      return;
    }
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr, "\r\033[K{:.0f} s  {}", seconds, text);
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace

std::function<void(const solve::Progress&)> progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [line = StatusLine()](const solve::Progress& progress) mutable {
    const std::string best = progress.value ? std::to_string(*progress.value) : "none yet";
    line.show(fmt::format("{}: best {}, proven bound {}", progress.level, best, progress.bound));
  };
}

std::function<void(const explain::Progress&)> explain_progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [line = StatusLine()](const explain::Progress& progress) mutable {
    line.show(fmt::format("{}: {} questions answered", progress.step, progress.questions));
  };
}

std::function<void(std::size_t, std::size_t)> batch_progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [line = StatusLine()](std::size_t done, std::size_t of) mutable {
    line.show(fmt::format("{} of {} inputs answered", done, of));
  };
}

std::function<void()> waiting_line(const std::string& words) {
  if (::isatty(STDERR_FILENO) == 0) return [] {};
  return [line = StatusLine(), words]() mutable { line.show(words); };
}

void end_progress_line() {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
}

}  // namespace twill::cli
