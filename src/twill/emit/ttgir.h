#pragma once

#include <string>

#include "twill/device/kernel.h"
#include "twill/dialect/type_forms.h"
#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

/// Kernels as warp-specialized TTGIR, which Triton goes on compiling. Nothing is decided here.
namespace twill::emit {

/// A complete module: the function of the Program, with its name, arguments and attributes, and
/// the kernel's roles in place of its body. Fails for an operation that has no spelling. Linear.
Result<std::string> ttgir_kernel(const ir::Program& program, const device::Kernel& kernel,
                                 dialect::Spelling spelling);

}  // namespace twill::emit
