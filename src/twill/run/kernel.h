#pragma once

#include "twill/emit/description.h"
#include "twill/ir/program.h"

/// Emitted kernels on the host: compiled against the emulated runtime, called with arguments that
/// make the main loop short and long. Results are compared with the kernel's text as `execute` runs
/// it. Details: docs/reference/cuda.md, "Running it without a GPU".
namespace twill::run {

/// An emitted kernel and the text it was printed from. Nothing is owned.
struct Kernel {
  const ir::Program& text;               ///< as it was read
  ir::OpId function;                     ///< of `text`
  const ir::Program& planned;            ///< the same, with its loops as they were planned
  ir::OpId loop;                         ///< the main loop, of `planned`
  const emit::Description& description;  ///< whose parameters are the function's arguments
};

/// The function's argument with that number.
ir::ValueId argument(const Kernel& kernel, std::size_t number);

}  // namespace twill::run
