#include "twill/device/thread_copies.h"

#include <algorithm>

#include "twill/dialect/register_layouts.h"
#include "twill/extract/copied.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"
#include "twill/ir/runs.h"

namespace twill::device {

bool fits_cp_async(const ir::Program& program, ir::OpId load) {
  constexpr std::int64_t kFewestBits = 32;
  const ir::Op& op = program.op(load);
  const ir::Type tile = ir::type_of(program, op.results.front());
  const auto access = ir::memory_access(op);
  if (access && access->other && ir::constant_number(program, *access->other) != 0.0) return false;
  const std::int64_t elements = kFewestBits / std::max(1, ir::element_bits(tile));
  if (elements <= 1) return true;
  const auto near = dialect::neighbours_of(tile->encoding);
  const auto layout = extract::layout_in_memory(program, load);
  if (!near || !access || near->count < elements || !layout) return false;
  const std::size_t rank = tile->shape.size();
  // Without a reader that requires a layout, tiles lie row by row.
  const auto fastest = *layout != nullptr ? ir::fastest_dimension(*layout, rank) : rank - 1;
  return fastest == near->dimension &&
         ir::in_one_piece(program, *access, near->dimension, elements);
}

}  // namespace twill::device
