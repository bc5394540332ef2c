#include "twill/driver/emit_cuda.h"

#include <utility>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/emit/cuda.h"
#include "twill/support/data_path.h"

namespace twill::driver {
namespace {

constexpr const char* kHeaders[] = {"barrier", "fragment", "host", "ring", "role",
                                    "tile",    "tma",      "types", "wgmma"};

/// What a kernel includes, so that the folder compiles by itself.
Result<void> add_runtime(std::map<std::string, std::string>& files) {
  TWILL_TRY(const std::filesystem::path folder, support::data_path("runtime"));
  for (const char* header : kHeaders) {
    const std::string name = std::string(header) + ".cuh";
    TWILL_TRY(Input read, read_input((folder / name).string()));
    files["runtime/" + name] = std::move(read.text);
  }
  return {};
}

}  // namespace

Result<EmittedCuda> emit_cuda(const Request& request) {
  TWILL_TRY(PlannedLoop planned, plan_loop(request));
  EmittedCuda emitted{std::move(planned), {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name}, "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  TWILL_TRY(std::string source,
            emit::cuda_kernel({kernel.program, kernel.choice.loop, emitted.planned.outcome.origins,
                               *emitted.planned.plan, request.input.name}));
  emitted.files["kernel.cu"] = std::move(source);
  TWILL_TRY_VOID(add_runtime(emitted.files));
  return emitted;
}

}  // namespace twill::driver
