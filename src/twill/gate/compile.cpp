#include "twill/gate/compile.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "twill/gate/front_end.h"
#include "twill/gate/sass.h"

namespace twill::gate {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> command_of(const fs::path& nvcc, const fs::path& source,
                                    const fs::path& cubin, const CompileOptions& options) {
  // Not -arch=sm_90a, with which nvcc 13.0 may also make PTX for compute_90, which has no wgmma.
  std::vector<std::string> command = {nvcc.string(), "-gencode", "arch=compute_90a,code=sm_90a",
                                      "-std=c++17",  "-O3",      "-Xptxas",
                                      "-v",          "--cubin",  "-o",
                                      cubin.string()};
  std::vector<fs::path> includes = options.includes;
  includes.push_back(source.parent_path().empty() ? "." : source.parent_path());
  for (const fs::path& folder : includes) {
    command.emplace_back("-I");
    command.push_back(folder.string());
  }
  command.push_back(source.string());
  return command;
}

/// The first line that is not empty: the whole message of a compiler that does not start.
std::string first_line(std::string_view log) {
  log.remove_prefix(std::min(log.find_first_not_of("\r\n "), log.size()));
  return std::string(log.substr(0, log.find('\n')));
}

std::vector<std::string> refusals_of(const Finished& finished, const PtxasReport& report) {
  std::vector<std::string> reasons = refusals(report);
  const std::vector<std::string> complaints = refusals(read_complaints(finished.output));
  reasons.insert(reasons.end(), complaints.begin(), complaints.end());
  if (finished.status == 0) {
    if (report.functions.empty()) reasons.emplace_back("ptxas reports no function");
    return reasons;
  }
  if (reasons.empty()) reasons.push_back(first_line(finished.output));
  if (reasons.back().empty()) reasons.pop_back();
  reasons.insert(reasons.begin(), fmt::format("nvcc fails with status {}", finished.status));
  return reasons;
}

}  // namespace

Result<Compiled> compile_cuda(const Toolchain& toolchain, const fs::path& source,
                              const CompileOptions& options, const GoOn& go_on) {
  if (!toolchain.nvcc) {
    return fail({source.string()}, "there is no nvcc to compile this with",
                "put nvcc on PATH, or set CUDA_HOME to a CUDA installation");
  }
  std::error_code ignored;
  if (!fs::is_regular_file(source, ignored)) return fail({source.string()}, "no such file");
  Compiled compiled;
  compiled.cubin =
      options.cubin.empty() ? fs::path(source).replace_extension(".cubin") : options.cubin;
  compiled.command = command_of(*toolchain.nvcc, source, compiled.cubin, options);
  std::vector<std::string> variables;
  if (!options.temporary.empty()) variables.push_back("TMPDIR=" + options.temporary.string());
  TWILL_TRY(Finished finished, run(compiled.command, kLongestRun, go_on, variables));
  compiled.report = read_ptxas(finished.output);
  compiled.refusals = refusals_of(finished, compiled.report);
  const bool left =
      fs::is_regular_file(compiled.cubin, ignored) && fs::file_size(compiled.cubin, ignored) > 0;
  if (finished.status == 0 && !left) {
    compiled.refusals.push_back("nvcc leaves no machine code");
  }
  compiled.log = std::move(finished.output);
  return compiled;
}

Result<std::vector<FunctionCode>> disassemble(const Toolchain& toolchain, const fs::path& cubin) {
  if (!toolchain.nvdisasm) {
    return fail(
        {cubin.string()}, "there is no nvdisasm to read this with",
        "put nvdisasm on PATH, or set CUDA_HOME to a CUDA installation that has it; Triton's "
        "wheel has one, too");
  }
  TWILL_TRY(const Finished finished, run({toolchain.nvdisasm->string(), "-c", cubin.string()}));
  if (finished.status != 0) {
    return fail({cubin.string()}, fmt::format("nvdisasm fails with status {}", finished.status),
                finished.output.substr(0, finished.output.find('\n')));
  }
  TWILL_TRY(const std::vector<SassFunction> functions, read_sass(finished.output, cubin.string()));
  std::vector<FunctionCode> code;
  for (const SassFunction& function : functions) code.push_back(code_of(function));
  return code;
}

}  // namespace twill::gate
