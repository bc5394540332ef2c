#pragma once

#include <string>
#include <string_view>

#include "twill/ir/op_kind.h"

/// Names of ops in Triton and MLIR.
namespace twill::dialect {

/// Kind of an op by its name, in the spelling of any Triton; OpKind::other for an unknown name.
ir::OpKind kind_of(std::string_view name);

/// Today's spelling of a name: `triton_gpu.` becomes `ttg.`, `triton_nvidia_gpu.` becomes `ttng.`,
/// renamed ops (tt.experimental_descriptor_load) get their present names. Unknown names stay.
std::string todays_name(std::string_view name);

/// The part of an op name before the first dot: "arith".
std::string_view dialect_of(std::string_view name);

}  // namespace twill::dialect
