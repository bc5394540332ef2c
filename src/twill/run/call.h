#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "twill/gate/process.h"
#include "twill/run/case.h"

namespace twill::run {

/// Something that the kernel does wrong, as the executor says it.
struct Finding {
  std::string kind;  ///< "race", "deadlock", ...
  int line = 0;      ///< of kernel.cu; 0: not known
  int times = 1;
  std::string thread;
  std::string message;
};

/// Results of a call.
struct Called {
  std::string refusal;  ///< what the launch function says is wrong; empty: it launched
  std::string fault;    ///< why there is no memory: the program ended early; empty: it did not
  std::vector<Finding> findings;
  std::vector<std::string> memory;  ///< by buffer: its bytes; empty after a fault
};

/// Runs a program that `build` made. Fails if it cannot be started or its files cannot be written.
/// One that takes longer than `limit` is stopped, and that is a fault; so is one that `go_on`
/// stops.
Result<Called> call(const std::filesystem::path& program, const Kernel& kernel, const Case& call,
                    const Machine& machine, std::chrono::seconds limit,
                    const gate::GoOn& go_on = {});

}  // namespace twill::run
