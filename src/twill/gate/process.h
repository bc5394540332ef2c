#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::gate {

/// Result of a program that has ended.
struct Finished {
  int status = 0;      ///< its exit status; 128 + the signal's number if a signal ended it
  std::string output;  ///< its standard output and standard error, as they were written
};

/// Far more than a compiler takes for a kernel: a longer run hangs.
inline constexpr std::chrono::seconds kLongestRun{600};

/// Called ten times a second while a program runs, in the thread that waits for the program. False
/// stops the program.
using GoOn = std::function<bool()>;

/// Runs `command` (the program's path, then its arguments) without a shell and waits for its end.
/// Its environment is `variables` (each "NAME=VALUE"), then the environment of this process. Its
/// standard input is empty.
///
/// The program and all that it starts are a process group of their own. The group is killed if its
/// output does not end within `limit`, or if `go_on` says so. It is also killed if this process
/// (strictly: the calling thread) dies in whatever way. Fails if the program cannot be started, or
/// was stopped. Precondition: `command` is not empty.
Result<Finished> run(const std::vector<std::string>& command,
                     std::chrono::seconds limit = kLongestRun, const GoOn& go_on = {},
                     const std::vector<std::string>& variables = {});

}  // namespace twill::gate
