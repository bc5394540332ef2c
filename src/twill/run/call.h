#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "twill/gate/process.h"
#include "twill/run/case.h"

namespace twill::run {

/// A fault of the kernel, in the executor's words.
struct Finding {
  std::string kind;  ///< "race", "deadlock", ...
  int line = 0;      ///< line of kernel.cu; 0: unknown
  int times = 1;
  std::string thread;
  std::string message;
};

/// Results of a call.
struct Called {
  std::string refusal;  ///< the launch function's refusal; empty: it launched
  std::string fault;    ///< reason why there is no memory: an early end; empty: a normal end
  std::vector<Finding> findings;
  std::vector<std::string> memory;  ///< bytes of each buffer; empty after a fault
};

/// Runs a program that `build` made. Fails if it cannot be started or its files cannot be written.
/// A program that takes longer than `limit`, or that `go_on` stops, has a fault.
Result<Called> call(const std::filesystem::path& program, const Kernel& kernel, const Case& call,
                    const Machine& machine, std::chrono::seconds limit,
                    const gate::GoOn& go_on = {});

}  // namespace twill::run
