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
  std::string triton;                 ///< version of Triton
  PtxasReport report;                 ///< of the ptxas that this Triton brings
  std::vector<std::string> refusals;  ///< reasons why the code must not be used; empty: accepted
};

/// Compiles a module for sm_90 as Triton does from its TTGIR stage on. Judges the report of ptxas;
/// needs no GPU and does not run the module. `python`: an interpreter that has Triton 3.6 or later.
/// `folder`: for intermediate files, such as Triton's cache and PTX. Fails without such a Triton,
/// if Triton rejects the module, and if `go_on` stops the compilation. Cost: Triton's, two to six
/// seconds.
Result<CompiledModule> compile_ttgir(const std::filesystem::path& python,
                                     const std::filesystem::path& module,
                                     const std::filesystem::path& folder, const GoOn& go_on = {});

}  // namespace twill::gate
