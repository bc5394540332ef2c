#include "twill/execute/types.h"

#include <algorithm>

#include "twill/execute/evaluate.h"
#include "twill/ir/misfit.h"

namespace twill::execute {

Result<void> check_types(const ir::Program& program, ir::OpId function) {
  for (const ir::OpId id : ir::walk(program, function)) {
    if (const auto misfit = ir::misfit(program, id)) {
      return fail(ir::text_location(program, id), "cannot be executed: " + misfit->message);
    }
    for (const ir::ValueId result : program.op(id).results) {
      const auto& shape = ir::type_of(program, result)->shape;
      if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 1; })) {
        return cannot(program, id, "has a result whose shape is not known");
      }
    }
  }
  return {};
}

}  // namespace twill::execute
