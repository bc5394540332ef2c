#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "twill/gate/code.h"
#include "twill/gate/process.h"
#include "twill/gate/ptxas.h"
#include "twill/gate/toolchain.h"
#include "twill/support/diagnostic.h"

namespace twill::gate {

struct CompileOptions {
  /// Folders for #include, searched before the folder of the source itself.
  std::vector<std::filesystem::path> includes;
  /// File for the machine code; empty: beside the source, with the suffix .cubin.
  std::filesystem::path cubin;
  /// Folder for the compiler's intermediate files; empty: the compiler's default.
  std::filesystem::path temporary;
};

/// Result of compiling a source with nvcc, and whether it may be used.
struct Compiled {
  std::vector<std::string> command;  ///< the command that was run
  std::string log;                   ///< all output of nvcc
  PtxasReport report;
  std::filesystem::path cubin;        ///< exists if nvcc succeeded
  std::vector<std::string> refusals;  ///< reasons why the kernels must not be used; empty: accepted

  bool accepted() const { return refusals.empty(); }
};

/// Compiles a CUDA source for sm_90a to a cubin, without linking or running it. Judges the warnings
/// of the front end (gate/front_end.h) and the report of ptxas (gate/ptxas.h). A source that does
/// not compile is refused with the compiler's own errors. Fails where there is no nvcc or the
/// source does not exist, and if `go_on` stops it. Cost: nvcc's, two seconds and more for a kernel.
Result<Compiled> compile_cuda(const Toolchain& toolchain, const std::filesystem::path& source,
                              const CompileOptions& options = {}, const GoOn& go_on = {});

/// The machine code in a cubin, function by function (gate/code.h). Fails where there is no
/// nvdisasm, or where its output has an unknown form.
Result<std::vector<FunctionCode>> disassemble(const Toolchain& toolchain,
                                              const std::filesystem::path& cubin);

}  // namespace twill::gate
