#include "twill/gate/triton.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace twill::gate {
namespace {

/// Prints Triton's version on a line of its own, then the report of ptxas. Triton discards the
/// report of its own run, so ptxas runs once more on the PTX.
constexpr const char* kScript = R"(
import os, re, subprocess, sys
import triton
from triton.backends.compiler import GPUTarget
module, folder = sys.argv[1:]
with open(module) as file:
    warps = re.search(r'num-warps" = (\d+)', file.read())
kernel = triton.compile(module, target=GPUTarget("cuda", 90, 32), options={"num_warps": int(warps[1])})
ptx = os.path.join(folder, "module.ptx")
with open(ptx, "w") as file:
    file.write(kernel.asm["ptx"])
ptxas = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")
print("triton " + triton.__version__, flush=True)
sys.exit(subprocess.run([ptxas, "-v", "--gpu-name=sm_90a", ptx, "-o", ptx + ".cubin"]).returncode)
)";
constexpr std::string_view kVersion = "triton ";

/// The last line that is not empty: Python's exceptions end with their message.
std::string last_line(std::string_view log) {
  const std::size_t end = log.find_last_not_of("\r\n ");
  if (end == std::string_view::npos) return "it prints nothing";
  log = log.substr(0, end + 1);
  const std::size_t begin = log.rfind('\n');
  return std::string(begin == std::string_view::npos ? log : log.substr(begin + 1));
}

}  // namespace

Result<CompiledModule> compile_ttgir(const std::filesystem::path& python,
                                     const std::filesystem::path& module,
                                     const std::filesystem::path& folder, const GoOn& go_on) {
  TWILL_TRY(const Finished finished,
            run({python.string(), "-B", "-c", kScript, module.string(), folder.string()},
                kLongestRun, go_on, {"TRITON_CACHE_DIR=" + (folder / "cache").string()}));
  const std::string& log = finished.output;
  const std::size_t at = log.starts_with(kVersion) ? 0 : log.find("\n" + std::string(kVersion));
  if (finished.status != 0 || at == std::string::npos) {
    return fail({python.string()},
                fmt::format("does not compile the module with its Triton: {}", last_line(log)),
                "name a Python that has Triton 3.6 or later");
  }
  CompiledModule compiled;
  const std::size_t begin = log.find(kVersion, at) + kVersion.size();
  compiled.triton = log.substr(begin, log.find('\n', begin) - begin);
  compiled.report = read_ptxas(std::string_view(log).substr(begin));
  compiled.refusals = refusals(compiled.report);
  if (compiled.report.functions.empty()) {
    compiled.refusals.emplace_back("ptxas reports no function");
  }
  return compiled;
}

}  // namespace twill::gate
