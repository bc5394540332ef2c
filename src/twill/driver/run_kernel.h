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

/// Options of a run of an emitted kernel on the host.
struct RunKernelRequest {
  std::string folder;  ///< folder made by `twill emit cuda`
  run::FixedArguments given;
  /// Trip counts. Empty: 0 to 4, one more than the slots of the deepest ring, and one more than
  /// twice as many.
  std::vector<std::int64_t> trips;
  std::uint64_t seed = 1;
  int seeds = 1;                             ///< number of seeds, from `seed` on
  std::vector<bool> random = {false, true};  ///< completion of asynchronous work, for runs in turn
  int processors = 2;
  bool switch_at_memory = false;
  std::chrono::seconds limit{120};  ///< limit of a call
  std::string keep;                 ///< folder in which the program is kept; empty: it is removed
  gate::GoOn go_on;  ///< called ten times a second while other programs run; false stops them
};

/// Finds the function of `text` that matches the planned program's function around the main loop,
/// by position. Both programs have the functions of one input, in the order of its text. Fails if
/// the main loop is in no function.
Result<ir::OpId> function_of(const ir::Program& text, const Kernel& planned);

/// SHA-256, in hexadecimal, of those `files` that lie in runtime/, with their names.
std::string runtime_hash(const std::map<std::string, std::string>& files);

/// Resources of several runs: a compiler for the host, and the executor, compiled once.
class RunSession {
 public:
  /// Fails without a compiler, or if no folder for programs can be made.
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

/// Compiles the folder's kernel.cu for the host with the second implementation of runtime/. Calls
/// it with arguments that give its main loop the wanted trips, and compares memory with the results
/// of the kernel's text. Fails for a folder without an emitted kernel, or changed since, and for a
/// text that cannot be executed. Fails if no arguments give one of `trips`, and if `go_on` stops
/// it. A kernel.cu that does not compile, or has wrong results, is no failure: the report says so.
Result<run::Report> run_kernel(const RunKernelRequest& request, RunSession& session);

}  // namespace twill::driver
