#include "twill/driver/emit_cuda.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/emit/cuda.h"
#include "twill/gate/compile.h"
#include "twill/support/data_path.h"

namespace twill::driver {
namespace {

constexpr const char* kHeaders[] = {"barrier", "fragment", "host",  "ring",  "role",
                                    "stamps",  "tile",     "tma",   "types", "wgmma"};

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

Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps) {
  TWILL_TRY(PlannedLoop planned, plan_loop(request));
  EmittedCuda emitted{std::move(planned), {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  TWILL_TRY(std::string source,
            emit::cuda_kernel({kernel.program, kernel.choice.loop, emitted.planned.outcome.origins,
                               *emitted.planned.plan, request.input.name, stamps}));
  if (stamps != emit::Stamps::none) {
    emitted.files["stamps.json"] = emit::cuda_stamps(*emitted.planned.plan, stamps);
  }
  emitted.files["kernel.cu"] = std::move(source);
  TWILL_TRY_VOID(add_runtime(emitted.files));
  return emitted;
}

Result<GateVerdict> compile_emitted(const std::string& folder) {
  const gate::Toolchain toolchain = gate::find_toolchain(gate::places_of_environment());
  const std::filesystem::path source = std::filesystem::path(folder) / "kernel.cu";
  TWILL_TRY(const gate::Compiled compiled,
            gate::compile_cuda(toolchain, source, {{std::filesystem::path(folder)}, {}}));
  GateVerdict verdict;
  verdict.refusals = compiled.refusals;
  for (const gate::FunctionReport& function : compiled.report.functions) {
    if (!function.is_kernel) continue;
    verdict.facts.push_back(fmt::format("{}: {} registers at entry, {} + {} bytes spilled",
                                        function.name, function.registers, function.spill_stores,
                                        function.spill_loads));
  }
  if (!compiled.accepted()) return verdict;
  if (!toolchain.nvdisasm) {
    verdict.facts.emplace_back("no nvdisasm: the machine code was not looked at");
    return verdict;
  }
  TWILL_TRY(const std::vector<gate::FunctionCode> code,
            gate::disassemble(toolchain, compiled.cubin));
  for (const gate::FunctionCode& function : code) {
    for (const gate::RoleCode& role : function.roles) {
      verdict.facts.push_back(
          fmt::format("{}: a role of {} registers uses R0 to R{}, {} wgmma in {} batches, {} waits",
                      function.name, role.registers, role.highest_register, role.products,
                      role.batches, role.waits));
    }
    for (std::string& refusal : gate::refusals(function)) {
      verdict.refusals.push_back(std::move(refusal));
    }
  }
  return verdict;
}

}  // namespace twill::driver
