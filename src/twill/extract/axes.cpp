#include "twill/extract/axes.h"

#include <algorithm>

#include "twill/ir/operands.h"

namespace twill::extract {
namespace {

using ir::OpKind;

bool is_index_row(const ir::Program& program, ir::ValueId value) {
  const ir::Type type = ir::type_of(program, value);
  if (type->kind != ir::TypeKind::tensor || !type->element) return false;
  if (type->element->kind == ir::TypeKind::floating) return false;
  return std::count_if(type->shape.begin(), type->shape.end(),
                       [](std::int64_t extent) { return extent != 1; }) <= 1;
}

}  // namespace

Axes::Axes(const Body& body) : body_(body) {
  for (const auto& [argument, yielded] : body.carried) add(argument), add(yielded);
  for (const auto& [result, value] : body.renamed) add(result), add(value);
  for (ir::OpId id : body.ops) {
    const ir::Op& op = body.program->op(id);
    for (ir::ValueId value : op.operands) add(value);
    for (ir::ValueId value : op.results) add(value);
  }
  find_data();
  for (const auto& [value, first] : first_) {
    for (std::size_t i = 0; i < shape(value).size(); ++i) has_data_[first + i] = !is_index(value);
  }
  for (const bool index : {false, true}) {
    joins_index_ = index;
    for (const auto& [argument, yielded] : body.carried) unite_alike(argument, yielded);
    for (const auto& [result, value] : body.renamed) unite_alike(result, value);
    for (ir::OpId id : body.ops) visit(id);
  }

  axis_.resize(up_.size());
  std::map<std::size_t, AxisId> numbers;
  for (std::size_t node = 0; node < up_.size(); ++node) {
    const auto [place, made] = numbers.try_emplace(find(node), AxisId(table_.size()));
    if (made) table_.push_back({size_[find(node)], frozen_[find(node)]});
    axis_[node] = place->second;
  }
}

/// Finds integers computed from numbers: masks of comparisons, places of a maximum.
void Axes::find_data() {
  const auto is_data = [&](ir::ValueId value) {
    const ir::Type type = ir::type_of(*body_.program, value);
    const bool numbers = type->kind == ir::TypeKind::tensor && type->element &&
                         type->element->kind == ir::TypeKind::floating;
    return numbers || data_.contains(value);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::OpId id : body_.ops) {
      const ir::Op& op = body_.program->op(id);
      if (std::none_of(op.operands.begin(), op.operands.end(), is_data)) continue;
      for (const ir::ValueId result : op.results) changed = data_.insert(result).second || changed;
    }
    for (const auto& [argument, yielded] : body_.carried) {
      if (is_data(yielded)) changed = data_.insert(argument).second || changed;
    }
  }
}

Space Axes::space_of(ir::ValueId value) const {
  Space space;
  if (!first_.contains(value)) return space;
  for (std::size_t i = 0; i < shape(value).size(); ++i) {
    if (shape(value)[i] > 1) space.push_back(extent_of(value, i));
  }
  return space;
}

Extent Axes::extent_of(ir::ValueId value, std::size_t dimension) const {
  const std::size_t node = first_.at(value) + dimension;
  return {axis_[node], size_[node]};
}

std::size_t Axes::find(std::size_t node) {
  while (up_[node] != node) node = up_[node] = up_[up_[node]];
  return node;
}

/// Whether a value is a tile of indices, masks or pointers that was not computed from numbers.
bool Axes::is_index(ir::ValueId value) const {
  const ir::Type type = ir::type_of(*body_.program, value);
  return type->kind == ir::TypeKind::tensor && type->element &&
         type->element->kind != ir::TypeKind::floating && !data_.contains(value);
}

const std::vector<std::int64_t>& Axes::shape(ir::ValueId value) const {
  return ir::type_of(*body_.program, value)->shape;
}

void Axes::add(ir::ValueId value) {
  if (!is_tile(*body_.program, value)) return;
  if (!first_.try_emplace(value, up_.size()).second) return;
  for (std::int64_t extent : shape(value)) {
    up_.push_back(up_.size());
    size_.push_back(std::max<std::int64_t>(extent, 1));
    frozen_.emplace_back();
    has_data_.push_back(false);
  }
}

void Axes::unite(ir::ValueId a, std::size_t i, ir::ValueId b, std::size_t j) {
  if (!first_.contains(a) || !first_.contains(b)) return;
  if (i >= shape(a).size() || j >= shape(b).size()) return;
  const auto apart = [&](ir::ValueId value) {
    return is_index_row(*body_.program, value) && !data_.contains(value);
  };
  if (apart(a) || apart(b)) return;
  const std::size_t x = find(first_[a] + i), y = find(first_[b] + j);
  if (size_[x] != size_[y] || size_[x] == 1 || x == y) return;
  const bool index = is_index(a) || is_index(b);
  if (index && (!joins_index_ || (has_data_[x] && has_data_[y] && are_of_one_tile(x, y)))) return;
  has_data_[std::min(x, y)] = has_data_[x] || has_data_[y];
  up_[std::max(x, y)] = std::min(x, y);
  std::string& reason = frozen_[std::min(x, y)];
  if (reason.empty()) reason = frozen_[std::max(x, y)];
}

/// Whether one tile has both as its dimensions.
bool Axes::are_of_one_tile(std::size_t x, std::size_t y) {
  return std::any_of(first_.begin(), first_.end(), [&](const auto& tile) {
    bool has_x = false, has_y = false;
    for (std::size_t i = 0; i < shape(tile.first).size(); ++i) {
      const std::size_t root = find(tile.second + i);
      has_x = has_x || root == x;
      has_y = has_y || root == y;
    }
    return has_x && has_y;
  });
}

void Axes::unite_alike(ir::ValueId a, ir::ValueId b) {
  if (!is_tile(*body_.program, a) || !is_tile(*body_.program, b)) return;
  if (shape(a).size() != shape(b).size()) return;
  for (std::size_t i = 0; i < shape(a).size(); ++i) unite(a, i, b, i);
}

/// Unites equal dimensions, from the front; the other dimensions stay unknown.
void Axes::unite_prefix(ir::ValueId a, ir::ValueId b) {
  if (!is_tile(*body_.program, a) || !is_tile(*body_.program, b)) return;
  std::size_t i = 0;
  while (i < shape(a).size() && i < shape(b).size() && shape(a)[i] == shape(b)[i]) {
    unite(a, i, b, i);
    ++i;
  }
  for (ir::ValueId value : {a, b}) {
    for (std::size_t j = i; j < shape(value).size(); ++j) {
      frozen_[find(first_[value] + j)] = "a reshape goes through them";
    }
  }
}

void Axes::freeze(ir::ValueId value, const std::string& why) {
  if (!first_.contains(value)) return;
  for (std::size_t i = 0; i < shape(value).size(); ++i) frozen_[find(first_[value] + i)] = why;
}

void Axes::visit_view(const ir::Op& op, ir::ValueId from, ir::ValueId to) {
  if (!is_tile(*body_.program, from) || !is_tile(*body_.program, to)) return;
  const auto& order = op.order;
  switch (op.kind) {
    case OpKind::expand_dims: {
      const auto axis = op.axis;
      for (std::size_t i = 0; i < shape(from).size(); ++i) {
        const bool behind = axis && static_cast<std::int64_t>(i) >= *axis;
        unite(from, i, to, i + (behind ? 1 : 0));
      }
      return;
    }
    case OpKind::transpose:
    case OpKind::buffer_transpose:
      for (std::size_t i = 0; order && i < order->size(); ++i) {
        if ((*order)[i] >= 0) unite(to, i, from, static_cast<std::size_t>((*order)[i]));
      }
      return;
    case OpKind::reshape:
    case OpKind::buffer_reshape:
    case OpKind::buffer_cast:
      unite_prefix(from, to);
      return;
    case OpKind::buffer_index:
    case OpKind::buffer_subview: {
      const std::size_t gone = shape(from).size() - std::min(shape(from).size(), shape(to).size());
      for (std::size_t i = 0; i < shape(to).size(); ++i) unite(from, i + gone, to, i);
      return;
    }
    default:
      unite_alike(from, to);
  }
}

void Axes::visit_product(const ir::Op& op) {
  const auto product = ir::mma_operands(op);
  const std::size_t rank = shape(product->accumulator).size();
  if (rank < 2 || shape(product->a).size() != rank || shape(product->b).size() != rank) return;
  const std::size_t row = rank - 2, column = rank - 1;
  unite(product->a, row, product->accumulator, row);
  unite(product->a, column, product->b, row);
  unite(product->b, column, product->accumulator, column);
  if (product->result) unite_alike(product->accumulator, *product->result);
}

void Axes::visit_reduction(ir::OpId id) {
  const ir::Op& op = body_.program->op(id);
  const auto reduction = ir::reduction(*body_.program, id);
  if (!reduction) return;
  const auto axis = static_cast<std::size_t>(std::max(reduction->axis, 0));
  for (std::size_t r = 0; r < op.results.size() && r < reduction->sources.size(); ++r) {
    const ir::ValueId from = reduction->sources[r], to = op.results[r];
    if (reduction->is_scan) {
      unite_alike(from, to);
      if (first_.contains(from) && axis < shape(from).size()) {
        frozen_[find(first_[from] + axis)] = "a scan runs along them";
      }
      continue;
    }
    if (!is_tile(*body_.program, from)) continue;
    for (std::size_t i = 0; i < shape(from).size(); ++i) {
      if (i != axis && is_tile(*body_.program, to)) unite(from, i, to, i > axis ? i - 1 : i);
    }
  }
}

void Axes::visit(ir::OpId id) {
  const ir::Op& op = body_.program->op(id);
  if (ir::mma_operands(op)) return visit_product(op);
  if (ir::class_of(op.kind) == ir::OpClass::reduction) return visit_reduction(id);
  switch (op.kind) {
    case OpKind::range:
    case OpKind::splat:
    case OpKind::constant:
    case OpKind::gather:
    case OpKind::block_gather:
    case OpKind::histogram:
      return;  // results have no rows, or are cut as their readers need
    case OpKind::join:
    case OpKind::split:
    case OpKind::cat:
      for (ir::ValueId operand : op.operands) {
        for (ir::ValueId result : op.results) unite_prefix(operand, result);
      }
      return;
    default:
      break;
  }
  if (is_view(op.kind) && !op.operands.empty() && !op.results.empty()) {
    return visit_view(op, op.operands[0], op.results[0]);
  }
  if (op.kind == OpKind::other) return;
  // Element-wise ops, loads, stores, allocations: dimensions correspond by position.
  ir::ValueId tile{};
  bool known = false;
  const auto join = [&](ir::ValueId value) {
    if (!is_tile(*body_.program, value)) return;
    if (known) unite_alike(tile, value);
    if (!known) tile = value;
    known = true;
  };
  for (ir::ValueId value : op.results) join(value);
  for (ir::ValueId value : op.operands) join(value);
}

}  // namespace twill::extract
