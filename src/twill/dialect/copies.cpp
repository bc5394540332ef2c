#include "twill/dialect/copies.h"

#include <algorithm>
#include <vector>

#include "twill/dialect/register_layouts.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"
#include "twill/ir/runs.h"

namespace twill::dialect {

namespace {

/// Whether neighbours along a dimension of a loaded tile lie together in each buffer that the tile
/// is put into; rows do in a buffer that the text does not have.
bool lies_along(const ir::Program& program, ir::ValueId tile, std::size_t dimension) {
  bool has_buffer = false;
  std::vector<ir::ValueId> open = {tile};
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    for (const ir::Use& use : program.value(value).uses) {
      const ir::Op& user = program.op(use.op);
      if (user.kind == ir::OpKind::relayout) open.push_back(user.results.front());
      if (user.kind != ir::OpKind::shared_alloc) continue;
      has_buffer = true;
      const ir::Type buffer = ir::type_of(program, user.results.front());
      if (ir::fastest_dimension(buffer) != dimension) return false;
    }
  }
  return has_buffer || dimension + 1 == ir::type_of(program, tile)->shape.size();
}

}  // namespace

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
         lies_along(program, op.results.front(), near->dimension) &&
         ir::in_one_piece(program, *access, near->dimension, elements);
}

}  // namespace twill::dialect
