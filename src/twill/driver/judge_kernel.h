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

/// Compiles an emitted kernel in a scratch folder. Judges it by the warnings of nvcc's front end
/// and by the report of ptxas. With a disassembler, also by the machine code: registers, local
/// memory, and whether each role waits where its plan says. Leaves no file behind. Fails without
/// nvcc or room for files, and if `go_on` stops it. Cost: nvcc's, 2 to 20 seconds.
Result<gate::Verdict> judge_kernel(const EmittedCuda& emitted, const gate::Toolchain& toolchain,
                                   const gate::GoOn& go_on = {});

/// Compiles a module of TTGIR in a scratch folder with the Triton of that Python (gate/triton.h).
/// Leaves no file behind.
Result<gate::CompiledModule> judge_module(const std::string& text,
                                          const std::filesystem::path& python,
                                          const gate::GoOn& go_on = {});

/// Files of a judged kernel to keep, by name: the emitted files, `status.json`, and the machine
/// code of an accepted kernel. The source of a refused kernel is called `kernel.refused.cu`, so
/// that it is not compiled by mistake. Precondition: the kernel was emitted.
std::map<std::string, std::string> kept_files(const EmittedCuda& emitted,
                                              const gate::Verdict& verdict);

/// Next remedy for a refused kernel. First pins, if overlaps are lost. Then more spare registers,
/// for which the kernel is solved again with a tighter budget. (Not for an alternative, which would
/// become another schedule.) Empty after three rounds, or if nvcc did not compile the kernel. A
/// smaller tile would help too, but needs a change of the TTGIR.
struct Remedy {
  Request request;
  std::string words;  ///< "with 8 more registers of each thread kept free"
};
std::optional<Remedy> remedy_for(const Request& request, const gate::Verdict& verdict);

}  // namespace twill::driver
