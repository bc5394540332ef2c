#pragma once

#include <chrono>
#include <functional>
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

/// Asked ten times a second while a program runs, in the thread that waits for it; false: stop it.
using GoOn = std::function<bool()>;

/// Runs `command` (the program's path, then its arguments) without a shell, in this process's
/// environment (before it: `variables`, each "NAME=VALUE") and with nothing on its standard input,
/// and waits for it.
///
/// The program and all that it starts are a process group of their own, which is killed if its
/// output does not end within `limit`, if `go_on` says so, and if this process (strictly: the
/// thread that called) dies in whatever way. Fails if the program cannot be started, or was
/// stopped. Precondition: `command` is not empty.
Result<Finished> run(const std::vector<std::string>& command,
                     std::chrono::seconds limit = kLongestRun, const GoOn& go_on = {},
                     const std::vector<std::string>& variables = {});

}  // namespace twill::gate
