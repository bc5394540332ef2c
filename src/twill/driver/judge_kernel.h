#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "twill/driver/emit_cuda.h"
#include "twill/gate/process.h"
#include "twill/gate/toolchain.h"
#include "twill/gate/triton.h"
#include "twill/gate/verdict.h"

namespace twill::driver {

/// Compiles an emitted kernel in a scratch folder and judges it by the warnings of nvcc's front end
/// and ptxas' report. With a disassembler, also by the machine code: registers, local memory, and
/// whether the waits of each role stand where the plan has them. Leaves no file behind. Fails where
/// there is no nvcc or no room for files, and if `go_on` stops it. Cost: nvcc's, 2 to 20 seconds.
Result<gate::Verdict> judge_kernel(const EmittedCuda& emitted, const gate::Toolchain& toolchain,
                                   const gate::GoOn& go_on = {});

/// Compiles a module of TTGIR in a scratch folder with the Triton of that Python (gate/triton.h).
/// Leaves no file behind.
Result<gate::CompiledModule> judge_module(const std::string& text,
                                          const std::filesystem::path& python,
                                          const gate::GoOn& go_on = {});

/// The files to leave of a kernel that was judged, by name: those emitted, `status.json`, and the
/// machine code of an accepted one. The source of a refused kernel is called `kernel.refused.cu`,
/// so that it is not compiled by mistake. Precondition: it was emitted.
std::map<std::string, std::string> kept_files(const EmittedCuda& emitted,
                                              const gate::Verdict& verdict);

/// The next thing to try with a kernel that was refused, in the order: pins, if overlaps are lost;
/// more spare registers, so that it is solved again with a tighter budget (not for an alternative,
/// which then would be another schedule). Empty after three rounds, or if nvcc did not take it.
/// The last remedy would be a smaller tile, which only the TTGIR can have.
struct Remedy {
  Request request;
  std::string words;  ///< "with 8 more registers of each thread kept free"
};
std::optional<Remedy> remedy_for(const Request& request, const gate::Verdict& verdict);

}  // namespace twill::driver
