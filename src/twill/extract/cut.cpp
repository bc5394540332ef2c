#include "twill/extract/cut.h"

#include "twill/extract/axes.h"
#include "twill/extract/body.h"
#include "twill/extract/contract.h"
#include "twill/extract/sub_tile.h"

namespace twill::extract {

Result<std::map<ir::ValueId, std::size_t>> cut_dimensions(const ir::Program& program,
                                                          ir::OpId loop) {
  TWILL_TRY(const Body body, straighten(program, loop));
  const auto axis = rows_of_products(contract(body));
  std::map<ir::ValueId, std::size_t> dimensions;
  if (!axis) return dimensions;
  const Axes axes(body);
  const auto note = [&](ir::ValueId value) {
    if (!is_tile(program, value)) return;
    for (std::size_t d = 0; d < ir::type_of(program, value)->shape.size(); ++d) {
      if (axes.extent_of(value, d).axis == *axis) dimensions.emplace(value, d);
    }
  };
  for (const ir::OpId id : body.ops) {
    for (const ir::ValueId value : program.op(id).operands) note(value);
    for (const ir::ValueId value : program.op(id).results) note(value);
  }
  return dimensions;
}

}  // namespace twill::extract
