#pragma once

#include <string>
#include <string_view>

#include "twill/ir/op_kind.h"

/// The names that Triton and MLIR have for ops.
namespace twill::dialect {

/// Kind of an op by its name, whichever Triton spelled it; OpKind::other if the name is not known.
ir::OpKind kind_of(std::string_view name);

/// Today's spelling: `triton_gpu.` is `ttg.`, `triton_nvidia_gpu.` is `ttng.`, and renamed ops
/// (tt.experimental_descriptor_load) get their present names. Unknown names stay.
std::string todays_name(std::string_view name);

/// The part of an op name before the first dot: "arith".
std::string_view dialect_of(std::string_view name);

}  // namespace twill::dialect
