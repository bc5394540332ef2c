#pragma once

#include <string>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::gate {

/// What a program that has ended left behind.
struct Finished {
  int status = 0;      ///< its exit status; 128 + the signal's number if a signal ended it
  std::string output;  ///< its standard output and standard error, as they were written
};

/// Runs `command` (the program's path, then its arguments) without a shell, in this process's
/// environment and with nothing on its standard input, and waits for it.
/// Fails if the program cannot be started. Precondition: `command` is not empty.
Result<Finished> run(const std::vector<std::string>& command);

}  // namespace twill::gate
