#include <algorithm>

#include "twill/device/sketch.h"
#include "twill/dialect/register_layouts.h"
#include "twill/extract/copied.h"
#include "twill/ir/operands.h"

/// Types of values in a role: rows of its part, layouts for its warps.
namespace twill::device {

using ir::OpKind;

ir::Attribute Sketch::layout_of(ir::ValueId value) const {
  const auto found = layouts_.find(value);
  return found != layouts_.end() ? found->second : ir::type_of(*program_, value)->encoding;
}

bool Sketch::put_layout(ir::ValueId value, ir::Attribute layout) {
  const ir::Type type = ir::type_of(*program_, value);
  const ir::Attribute now = layout_of(value);
  if (!is_tile(type) || !depends(value) || now == nullptr || now == layout) return false;
  if (dialect::is_of_product(now) || dialect::is_of_operand(now)) return false;
  layouts_[value] = layout;
  return true;
}

/// Gives a result the layout of an operand that has a product's layout.
bool Sketch::spread_layout(ir::OpId id) {
  const ir::Op& op = program_->op(id);
  if (op.results.size() != 1 || !is_pure(*program_, id)) return false;
  bool changed = false;
  for (const ir::ValueId operand : op.operands) {
    const ir::ValueId from = behind_relayouts(operand);
    const ir::Attribute layout = layout_of(from);
    if (!depends(from) || !is_tile(ir::type_of(*program_, from))) continue;
    if (!dialect::is_of_product(layout)) continue;
    if (op.kind == OpKind::reduce) {
      changed |= put_layout(op.results[0], dialect::sliced(types(), *op.axis, layout));
    } else if (op.kind == OpKind::expand_dims) {
      const auto slice = dialect::slice_of(layout);
      if (slice && slice->dimension == op.axis) changed |= put_layout(op.results[0], slice->parent);
    } else if (op.kind == OpKind::broadcast || is_elementwise(op)) {
      changed |= put_layout(op.results[0], layout);
    }
  }
  return changed;
}

/// Gives a tile that is read from shared memory the layout to which all its readers convert it.
void Sketch::read_as_wanted() {
  for (const auto& [value, op] : copied_) {
    std::set<ir::Attribute> wanted;
    for (const ir::Use& use : program_->value(value).uses) {
      const ir::Op& user = program_->op(use.op);
      if (user.kind == OpKind::shared_alloc) continue;
      const bool changes = user.kind == OpKind::relayout;
      wanted.insert(changes ? ir::type_of(*program_, user.results[0])->encoding : nullptr);
    }
    if (wanted.size() == 1 && *wanted.begin() != nullptr) layouts_[value] = *wanted.begin();
  }
}

/// Finds layouts. Results computed from products in a loop keep the layout of products, even where
/// the text has another layout. Each change of layout costs time and memory.
void Sketch::find_layouts() {
  read_as_wanted();
  const std::vector<ir::Loop> loops = ir::loops(*program_, function_);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const ir::Loop& loop : loops) {
      for (const ir::OpId op : program_->block(loop.body).ops) changed |= spread_layout(op);
      for (const ir::Carried& carried : loop.carried) {
        const ir::ValueId from = behind_relayouts(carried.yielded);
        const ir::Attribute layout = layout_of(from);
        if (!is_tile(ir::type_of(*program_, from)) || !dialect::is_of_product(layout)) continue;
        changed |= put_layout(carried.argument, layout);
        if (carried.result) changed |= put_layout(*carried.result, layout);
      }
    }
  }
}

ir::Type Sketch::with_layout(ir::Type type, ir::Attribute layout) const {
  return types().tensor(type->shape, type->element, layout);
}

ir::Type Sketch::buffer(std::vector<std::int64_t> shape, ir::Type element, ir::Attribute layout,
                        std::vector<std::int64_t> whole) const {
  ir::TypeNode node;
  node.shape = std::move(shape);
  node.element = element;
  node.encoding = layout;
  node.memory_space = dialect::shared_memory(types());
  node.space = ir::MemorySpace::shared;
  node.is_mutable = true;
  node.alloc_shape = std::move(whole);
  return types().memdesc(std::move(node), dialect::kMemdesc);
}

ir::Type Sketch::barriers(std::int64_t count) const {
  std::vector<std::int64_t> shape = {1};
  if (count > 0) shape.insert(shape.begin(), count);
  return buffer(shape, types().scalar("i64"), dialect::barrier_layout(types()));
}

Result<ir::Type> Sketch::type_of(ir::ValueId value, int cut, int warps) const {
  const ir::Type type = ir::type_of(*program_, value);
  std::vector<std::int64_t> shape = type->shape;
  const auto definition = this->definition(value);
  const ir::OpId blamed = definition ? *definition : loop_.op;
  if (cut >= 0) {
    std::int64_t& extent = shape[static_cast<std::size_t>(cut)];
    if (extent % part_count_ != 0) return refuse(blamed, "has rows that cannot be cut evenly");
    extent /= part_count_;
  }
  if (type->kind == ir::TypeKind::memdesc) {
    return buffer(shape, type->element, type->encoding, type->alloc_shape);
  }
  if (!is_tile(type)) return type;
  const ir::Attribute layout = layout_of(value);
  if (layout == nullptr) return types().tensor(shape, type->element);
  dialect::Piece piece{shape, {}, warps};
  if (cut >= 0) piece.cut = static_cast<std::size_t>(cut);
  const auto laid = dialect::for_piece(types(), layout, piece);
  if (!laid) return refuse(blamed, "has a layout that " + laid.error() + ": " + layout->text);
  return types().tensor(shape, type->element, *laid);
}

Result<ir::Type> Sketch::box_type(ir::OpId op) const {
  const auto access = ir::memory_access(program_->op(op));
  const auto moved = access ? (access->source ? access->source : access->result) : std::nullopt;
  if (!moved) return refuse(op, "moves no box");
  const ir::Type tile = ir::type_of(*program_, *moved);
  const ir::Type descriptor = ir::type_of(*program_, access->address);
  const ir::Attribute layout = descriptor->element ? descriptor->element->encoding : nullptr;
  if (layout == nullptr) return refuse(op, "has a descriptor that says nothing of a layout");
  return buffer(tile->shape, tile->element, layout);
}

/// Type of the buffer into which the loaded tile is put, or else of the box.
Result<ir::Type> Sketch::memory_type(ir::OpId load) const {
  const ir::Type tile = ir::type_of(*program_, program_->op(load).results.front());
  const auto layout = extract::layout_in_memory(*program_, load);
  if (!layout) return refuse(load, "is put into shared memory in two layouts");
  if (*layout != nullptr) return buffer(tile->shape, tile->element, *layout);
  const auto access = ir::memory_access(program_->op(load));
  if (access && access->by_descriptor) return box_type(load);
  return buffer(tile->shape, tile->element,
                dialect::staging_layout(types(), tile->shape.size(), ir::element_bits(tile)));
}

}  // namespace twill::device
