#include <algorithm>
#include <functional>
#include <numeric>

#include "twill/device/sketch.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

/// Cuts of values: the dimension that is divided into the parts of the plan's roles.
namespace twill::device {
namespace {

using ir::OpKind;

/// Dimensions of values that can only be cut together.
class Together {
 public:
  using Dimension = std::pair<ir::ValueId, int>;

  Dimension root_of(Dimension at) {
    while (true) {
      const auto found = parent_.find(at);
      if (found == parent_.end() || found->second == at) return at;
      at = found->second;
    }
  }
  void unite(Dimension a, Dimension b) { parent_[root_of(a)] = root_of(b); }

 private:
  std::map<Dimension, Dimension> parent_;
};

int rank_of(ir::Type type) {
  const bool shaped = is_tile(type) || type->kind == ir::TypeKind::memdesc;
  return shaped ? static_cast<int>(type->shape.size()) : 0;
}

/// Product of the extents in front of dimension `dimension`.
std::int64_t before(const std::vector<std::int64_t>& shape, int dimension) {
  return std::accumulate(shape.begin(), shape.begin() + dimension, std::int64_t{1},
                         std::multiplies<>());
}

/// The dimension of `from` that matches dimension `cut` of `to`, where both shapes have the same
/// elements in order.
int same_dimension(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
                   int cut) {
  const std::int64_t extent = to[static_cast<std::size_t>(cut)];
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int at = static_cast<int>(i);
    if (from[i] == extent && extent != 1 && before(from, at) == before(to, cut)) return at;
  }
  return -1;
}

}  // namespace

int Sketch::cut_of(ir::ValueId value) const {
  const auto found = cuts_.find(value);
  return found == cuts_.end() ? -1 : found->second;
}

int Sketch::operand_cut(ir::OpId id, std::size_t index, int cut) const {
  const ir::Op& op = program_->op(id);
  if (cut < 0) return -1;
  const ir::Type type = ir::type_of(*program_, op.operands[index]);
  const int rank = rank_of(type);
  if (rank == 0) return -1;
  const int axis = static_cast<int>(op.axis.value_or(0));
  const auto at = static_cast<std::size_t>(cut);
  switch (op.kind) {
    case OpKind::expand_dims:
      if (cut == axis) return -1;
      return cut < axis ? cut : cut - 1;
    case OpKind::broadcast:
      return type->shape[at] != 1 ? cut : -1;
    case OpKind::reduce:
      return cut < axis ? cut : cut + 1;
    case OpKind::transpose:
    case OpKind::buffer_transpose:
      return op.order ? static_cast<int>((*op.order)[at]) : -1;
    case OpKind::reshape:
    case OpKind::buffer_reshape:
      return same_dimension(type->shape, ir::type_of(*program_, op.results.front())->shape, cut);
    case OpKind::wgmma:
    case OpKind::mma: {
      const auto operands = ir::mma_operands(op);
      if (!operands) return -1;
      const ir::ValueId operand = op.operands[index];
      if (operand == operands->accumulator) return cut;
      if (operand == operands->a) return cut == 0 ? 0 : -1;
      return cut == 1 ? 1 : -1;
    }
    case OpKind::splat:
      return -1;
    default:
      return cut < rank ? cut : -1;
  }
}

Result<void> Sketch::find_cuts() {
  if (part_count_ <= 1) return {};
  Together together;
  const auto unite = [&](ir::ValueId a, int i, ir::ValueId b, int j) {
    if (!depends(a) || !depends(b)) return;
    const ir::Type left = ir::type_of(*program_, a), right = ir::type_of(*program_, b);
    if (i >= rank_of(left) || j >= rank_of(right)) return;
    if (left->shape[static_cast<std::size_t>(i)] != right->shape[static_cast<std::size_t>(j)]) {
      return;
    }
    together.unite({a, i}, {b, j});
  };
  std::vector<Together::Dimension> seeds;
  for (const ir::OpId id : ir::walk(*program_, function_)) {
    const ir::Op& op = program_->op(id);
    for (const ir::ValueId result : op.results) {
      for (int d = 0; d < rank_of(ir::type_of(*program_, result)); ++d) {
        for (std::size_t i = 0; i < op.operands.size() && !ir::is_loop(op.kind); ++i) {
          const int cut = operand_cut(id, i, d);
          if (cut >= 0) unite(result, d, op.operands[i], cut);
        }
      }
    }
    if (const auto operands = ir::mma_operands(op); operands && operands->result) {
      unite(operands->a, 1, operands->b, 0);
      const std::vector<OpId>& makers = makers_of(*operands->result);
      const auto in_parts = [&](OpId maker) { return origin(maker).part >= 0; };
      if (std::any_of(makers.begin(), makers.end(), in_parts)) {
        seeds.emplace_back(*operands->result, 0);
      }
    }
    for (const auto& [from, to] : ir::passed_on(*program_, id)) {
      for (int d = 0; d < rank_of(ir::type_of(*program_, to)); ++d) unite(to, d, from, d);
    }
  }
  std::set<Together::Dimension> cut;
  for (const Together::Dimension& seed : seeds) cut.insert(together.root_of(seed));
  for (const ir::ValueId value : dependent_) {
    for (int d = 0; d < rank_of(ir::type_of(*program_, value)); ++d) {
      if (!cut.contains(together.root_of({value, d}))) continue;
      if (!cuts_.emplace(value, d).second) {
        const auto by = definition(value);
        return refuse(by ? *by : loop_.op, "makes a tile whose rows and columns are both cut",
                      "choose a pool in which one group works on the whole tile (--pool)");
      }
    }
  }
  return {};
}

/// Finds values of the loop that are not cut, and yet made once for each part.
void Sketch::find_made_by_part() {
  const auto makers_differ = [&](ir::ValueId value) {
    std::set<int> parts;
    for (const OpId maker : makers_of(value)) parts.insert(origin(maker).part);
    return parts.size() > 1 && *parts.begin() >= 0;
  };
  for (const ir::OpId id : ir::walk(*program_, loop_.op)) {
    const ir::Op& op = program_->op(id);
    if (is_region(op) || in_body(id) != id) continue;
    for (const ir::ValueId result : op.results) {
      if (cut_of(result) >= 0 || !depends(result)) continue;
      const bool follows = makers_of(result).empty() && !copy_of(result) &&
                           std::any_of(op.operands.begin(), op.operands.end(),
                                       [&](ir::ValueId it) { return is_made_by_part(it); });
      if (follows || makers_differ(result)) made_by_part_.insert(result);
    }
  }
}

}  // namespace twill::device
