#include "twill/dialect/copies.h"

#include <algorithm>

#include "twill/dialect/register_layouts.h"
#include "twill/ir/operands.h"
#include "twill/ir/runs.h"

namespace twill::dialect {

bool fits_cp_async(const ir::Program& program, ir::OpId load) {
  constexpr std::int64_t kFewestBits = 32;
  const ir::Op& op = program.op(load);
  const ir::Type tile = ir::type_of(program, op.results.front());
  const auto access = ir::memory_access(op);
  if (access && access->other && ir::constant_number(program, *access->other) != 0.0) return false;
  const std::int64_t elements = kFewestBits / std::max(1, ir::element_bits(tile));
  if (elements <= 1) return true;
  const auto near = neighbours_of(tile->encoding);
  return near && access && near->count >= elements &&
         ir::in_one_piece(program, *access, near->dimension, elements);
}

}  // namespace twill::dialect
