#include <utility>

#include "twill/emit/cuda.h"
#include "twill/emit/cuda/products.h"
#include "twill/emit/cuda/view.h"
#include "twill/ir/operands.h"

namespace twill::emit {
namespace cuda {
namespace {

/// Exponentials of one thread. Row vectors are left out: they are few, and ptxas places them
/// freely.
Result<int> exponentials_of(const View& view, ir::OpId id, int part) {
  const ir::Op& op = view.program().op(id);
  if (op.kind != ir::OpKind::exp2 && op.kind != ir::OpKind::exp) return 0;
  TWILL_TRY(const Shape shape, view.shape_of(op.results.front(), part));
  if (shape.kind != Shape::Kind::matrix) return 0;
  return static_cast<int>(elements_per_thread(shape));
}

/// Adds the step's work to the counts before the next wait.
Result<void> count(gate::Wait& next, const View& view, const plan::Step& step) {
  const extract::OpOrigin& origin = view.origin(*step.op);
  for (const extract::Source& source : origin.sources) {
    if (step.kind == plan::StepKind::issue) {
      if (!ir::mma_operands(view.program().op(source.op))) continue;
      TWILL_TRY(const int more, instructions_of(view, source.op, origin.part));
      next.products += more;
    } else {
      TWILL_TRY(const int more, exponentials_of(view, source.op, origin.part));
      next.exponentials += more;
    }
  }
  return {};
}

Result<ExpectedLoop> expected_loop(const View& view, const plan::Role& role) {
  ExpectedLoop loop{role.name, {}};
  gate::Wait next;
  for (const plan::Step& step : role.sections.steady) {
    if (step.kind == plan::StepKind::drain_groups && step.queue == plan::Mechanism::wgmma) {
      next.pending = step.pending;
      loop.code.waits.push_back(std::exchange(next, {}));
    }
    const bool works = step.kind == plan::StepKind::issue || step.kind == plan::StepKind::compute;
    if (!step.op || !works) continue;
    TWILL_TRY_VOID(count(next, view, step));
  }
  loop.code.products_after = next.products;
  loop.code.exponentials_after = next.exponentials;
  return loop;
}

}  // namespace
}  // namespace cuda

Result<std::vector<ExpectedLoop>> expected_loops(const KernelParts& parts) {
  TWILL_TRY(const cuda::View view, cuda::View::of(parts));
  std::vector<ExpectedLoop> loops;
  for (const plan::Role& role : view.plan().roles) {
    TWILL_TRY(ExpectedLoop loop, cuda::expected_loop(view, role));
    if (!loop.code.waits.empty()) loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace twill::emit
