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
  /// Folders for #include, before that of the source itself.
  std::vector<std::filesystem::path> includes;
  /// Where the machine code goes; empty: beside the source, with the suffix .cubin.
  std::filesystem::path cubin;
  /// Where the compiler puts what it needs in between; empty: where it likes.
  std::filesystem::path temporary;
};

/// Result of compiling a source with nvcc, and whether it may be used.
struct Compiled {
  std::vector<std::string> command;  ///< what was run
  std::string log;                   ///< all that it printed
  PtxasReport report;
  std::filesystem::path cubin;        ///< exists if nvcc succeeded
  std::vector<std::string> refusals;  ///< why the kernels must not be used; empty: accepted

  bool accepted() const { return refusals.empty(); }
};

/// Compiles a CUDA source for sm_90a to a cubin, without linking or running it. Judges the warnings
/// of the front end (gate/front_end.h) and the report of ptxas (gate/ptxas.h). A source that does
/// not compile is refused with the compiler's own errors. Fails where there is no nvcc or the
/// source does not exist, and if `go_on` stops it. Cost: nvcc's, two seconds and more for a kernel.
Result<Compiled> compile_cuda(const Toolchain& toolchain, const std::filesystem::path& source,
                              const CompileOptions& options = {}, const GoOn& go_on = {});

/// The machine code in a cubin, function by function (gate/code.h). Fails where there is no
/// nvdisasm, or where it does not print what we can read.
Result<std::vector<FunctionCode>> disassemble(const Toolchain& toolchain,
                                              const std::filesystem::path& cubin);

}  // namespace twill::gate
