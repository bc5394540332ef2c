#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "twill/gate/process.h"
#include "twill/gate/ptxas.h"
#include "twill/support/diagnostic.h"

namespace twill::gate {

/// Result of compiling a module of TTGIR with an installed Triton.
struct CompiledModule {
  std::string triton;                 ///< its version
  PtxasReport report;                 ///< of the ptxas that this Triton brings
  std::vector<std::string> refusals;  ///< why the code must not be used; empty: accepted
};

/// Compiles a module for sm_90 as Triton does from its TTGIR stage on, without a GPU and without
/// running it, and judges what ptxas reports. `python`: an interpreter that has Triton 3.6 or
/// later. `folder` is for what lies in between: Triton's cache, PTX. Fails where there is no such
/// Triton, where Triton does not take the module, and if `go_on` stops it.
/// Cost: Triton's, two to six seconds.
Result<CompiledModule> compile_ttgir(const std::filesystem::path& python,
                                     const std::filesystem::path& module,
                                     const std::filesystem::path& folder, const GoOn& go_on = {});

}  // namespace twill::gate
