#include "twill/cli/progress.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace twill::cli {

std::function<void(const solve::Progress&)> progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Clock::time_point shown = start;
  return [start, shown](const solve::Progress& progress) mutable {
    const Clock::time_point now = Clock::now();
    if (now - start < std::chrono::seconds(1) || now - shown < std::chrono::milliseconds(100)) {
      return;
    }
    shown = now;
    const double seconds = std::chrono::duration<double>(now - start).count();
    const std::string best = progress.value ? std::to_string(*progress.value) : "none yet";
    fmt::print(stderr, "\r\033[K{:.0f} s  {}: best {}, proven bound {}", seconds, progress.level,
               best, progress.bound);
    std::fflush(stderr);
  };
}

void end_progress_line() {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
}

}  // namespace twill::cli
