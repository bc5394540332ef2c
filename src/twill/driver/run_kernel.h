#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "twill/run/build.h"
#include "twill/run/report.h"

namespace twill::driver {

struct Kernel;

/// How an emitted kernel is to be run on the host.
struct RunKernelRequest {
  std::string folder;  ///< of `twill emit cuda`
  run::Given given;
  /// Empty: 0 to 4, one more than the deepest ring has slots, and one more than twice as many.
  std::vector<std::int64_t> trips;
  std::uint64_t seed = 1;
  int seeds = 1;                             ///< so many, from `seed` on
  std::vector<bool> random = {false, true};  ///< how asynchronous work completes, in turn
  int processors = 2;
  bool switch_at_memory = false;
  std::chrono::seconds limit{120};  ///< of a call
  std::string keep;                 ///< a folder for the program; empty: it is removed
  gate::GoOn go_on;                 ///< asked ten times a second while others work; false: stop
};

/// The function of `text` that stands where the one around the main loop stands in the planned
/// program: both have the functions of one input, in the order of its text. Fails where the main
/// loop is in no function.
Result<ir::OpId> function_of(const ir::Program& text, const Kernel& planned);

/// SHA-256, in hexadecimal, of the files of `files` that lie in runtime/, with their names.
std::string runtime_hash(const std::map<std::string, std::string>& files);

/// Resources of several runs: a compiler for the host, and the executor, compiled once.
class RunSession {
 public:
  /// Fails without a compiler, or where no folder for programs can be made.
  static Result<RunSession> start(const gate::GoOn& go_on = {});
  run::Builder& builder() { return builder_; }
  const std::filesystem::path& scratch() const { return scratch_.path(); }

 private:
  RunSession(run::Scratch scratch, std::filesystem::path runtime, std::vector<std::string> compiler,
             const gate::GoOn& go_on)
      : scratch_(std::move(scratch)),
        builder_(std::move(runtime), scratch_.path(), std::move(compiler), go_on) {}
  run::Scratch scratch_;
  run::Builder builder_;
};

/// Compiles the folder's kernel.cu for the host against the second implementation of runtime/,
/// calls it with arguments that make its main loop as long as wanted, and compares what it leaves
/// in memory with what the kernel's text does. Fails for what is no folder of an emitted kernel or
/// was changed since, for a text that cannot be executed, if there are no arguments for any of
/// `trips`, and where `go_on` stops it. A kernel.cu that does not compile, or computes otherwise,
/// is no failure: look at the report.
Result<run::Report> run_kernel(const RunKernelRequest& request, RunSession& session);

}  // namespace twill::driver
