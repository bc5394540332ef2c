#include "twill/emit/cuda/pieces.h"

#include "twill/emit/cuda/copies.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {
namespace {

using ir::OpKind;

constexpr int kThreads = 128;  // threads of a role; the number does not change the chunks' length

void add_copy(const View& view, ir::OpId load, std::vector<ir::Piece>& pieces) {
  const auto copy = copy_of(view, load, kThreads);
  if (!copy) return;
  pieces.push_back({*ir::memory_access(view.program().op(load)),
                    static_cast<std::size_t>(copy->flipped ? 0 : 1), copy->elements()});
}

void add_store(const View& view, ir::OpId store, std::vector<ir::Piece>& pieces) {
  const auto access = *ir::memory_access(view.program().op(store));
  const auto shape = view.shape_of(*access.source, -1);
  if (!shape) return;
  const int together = stored_at_once(view, store, *shape);
  if (together > 1) pieces.push_back({access, 1, together});
}

}  // namespace

std::int64_t bytes_of_chunk(const View& view, ir::OpId load, std::size_t dimension) {
  const auto access = *ir::memory_access(view.program().op(load));
  for (const std::int64_t bytes : {16, 8, 4}) {
    if (ir::in_one_piece(view.program(), access, dimension, bytes / 2)) return bytes;
  }
  return 0;
}

int stored_at_once(const View& view, ir::OpId store, const Shape& shape) {
  const ir::Op& op = view.program().op(store);
  const auto access = *ir::memory_access(op);
  const ir::Type type = ir::type_of(view.program(), *access.source);
  if (op.kind != OpKind::store || shape.kind != Shape::Kind::matrix) return 1;
  if (type->shape.size() != 2 || ir::element_bits(type) < 8) return 1;
  const auto together = [&](int n) { return ir::in_one_piece(view.program(), access, 1, n); };
  if (is_packed(type) && shape.columns % kColumnsOfQuad == 0 && together(8)) return 8;
  return together(2) ? 2 : 1;
}

std::vector<ir::Piece> pieces_of(const View& view) {
  std::vector<ir::Piece> pieces;
  const plan::Plan& plan = view.plan();
  for (std::size_t v = 0; v < plan.mechanisms.size(); ++v) {
    if (plan.mechanisms[v] != plan::Mechanism::cp_async) continue;
    if (const auto load = load_copied_by(view, OpId(v))) add_copy(view, *load, pieces);
  }
  for (std::size_t i = 0; i < plan.kernel->per_tile_ops.size(); ++i) {
    const ir::OpId op = view.op_of_per_tile(i);
    if (plan.kernel->per_tile_ops[i].mechanism == plan::Mechanism::cp_async)
      add_copy(view, op, pieces);
    if (view.program().op(op).kind == OpKind::store) add_store(view, op, pieces);
  }
  return pieces;
}

}  // namespace twill::emit::cuda
