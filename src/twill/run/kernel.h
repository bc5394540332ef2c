#pragma once

#include "twill/emit/description.h"
#include "twill/ir/program.h"

/// Emitted kernels on the host: compiled against the emulated runtime, called with arguments that
/// make the main loop short and long. Results are compared with the results of `execute` on the
/// kernel's text. Details: docs/reference/cuda.md, "Running it without a GPU".
namespace twill::run {

/// An emitted kernel and the text from which it was printed. Members are references only.
struct Kernel {
  const ir::Program& text;               ///< the text as the user gave it
  ir::OpId function;                     ///< op of `text`
  const ir::Program& planned;            ///< the text with its loops as they were planned
  ir::OpId loop;                         ///< the main loop, an op of `planned`
  const emit::Description& description;  ///< its parameters are the function's arguments
};

/// The function's argument with that number.
ir::ValueId argument(const Kernel& kernel, std::size_t number);

}  // namespace twill::run
