#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::gate {

/// What a program that has ended left behind.
struct Finished {
  int status = 0;      ///< its exit status; 128 + the signal's number if a signal ended it
  std::string output;  ///< its standard output and standard error, as they were written
};

/// Far more than a compiler takes for a kernel: one that takes longer hangs.
inline constexpr std::chrono::seconds kLongestRun{600};

/// Runs `command` (the program's path, then its arguments) without a shell, in this process's
/// environment and with nothing on its standard input, and waits for it.
/// Fails if the program cannot be started, and if its output does not end within `limit`; then it
/// is killed. Precondition: `command` is not empty.
Result<Finished> run(const std::vector<std::string>& command,
                     std::chrono::seconds limit = kLongestRun);

}  // namespace twill::gate
