#include "twill/device/role.h"

/// Slots and phases: constants in the prologue, carried along by the loop.
namespace twill::device {

using plan::Instance;

At RoleBuilder::at(const plan::Step& step) const {
  const int offset = step.instance.offset;
  switch (step.instance.from) {
    case Instance::From::first:
      return {At::From::first, offset};
    case Instance::From::window:
      return {At::From::window, offset};
    case Instance::From::last:
      if (section_ == At::From::first) return {At::From::first, short_trips_ + offset};
      return {At::From::last, offset};
    case Instance::From::tile:
      break;
  }
  return {At::From::tile, offset};
}

ValueId RoleBuilder::slot(int depth, At at) {
  if (depth == 1) return number(0);
  if (at.from == At::From::tile) {
    if (!sketch_.walks()) return number(0);
    tile_depths_.insert(depth);
    return of_tile_.contains(depth) ? of_tile_.at(depth).first : number(0);
  }
  if (at.from == At::From::beside) return positions_.at(depth).first;
  if (at.from == At::From::first) return position(depth, at.offset).first;
  return carried({{Thing::Kind::slot, {}, {}, depth}, at.offset}, sketch_.i32());
}

ValueId RoleBuilder::parity(int depth, At at, bool inverse) {
  const bool one_tile = !sketch_.walks();
  if (at.from == At::From::tile && one_tile) return number(inverse ? 1 : 0);
  if (at.from == At::From::first && one_tile) {
    return number((at.offset / depth % 2) ^ (inverse ? 1 : 0));
  }
  ValueId phase;
  if (at.from == At::From::tile) {
    tile_depths_.insert(depth);
    phase = of_tile_.contains(depth) ? of_tile_.at(depth).second : number(0);
  } else if (at.from == At::From::first) {
    phase = position(depth, at.offset).second;
  } else if (at.from == At::From::beside) {
    phase = positions_.at(depth).second;
  } else {
    phase = carried({{Thing::Kind::phase, {}, {}, depth}, at.offset}, sketch_.i32());
  }
  return inverse ? integer(NodeKind::exclusive_or, phase, number(1), "parity") : phase;
}

/// Copy number `at` of a ring; the same one while nodes are added to the same block.
ValueId RoleBuilder::element(ValueId ring, int depth, At at, const std::string& name,
                             ir::Type type) {
  const auto known = elements_.find({ring, at, now_});
  if (known != elements_.end()) return known->second;
  const ValueId which = slot(depth, at);
  const ValueId made = make(NodeKind::element, {ring, which}, name, type);
  return elements_[{ring, at, now_}] = made;
}

ValueId RoleBuilder::barrier(const Barriers& barriers, At at, const std::string& name) {
  const ValueId all = capture(barriers.value);
  if (barriers.single) return all;
  return element(all, barriers.depth, at, name, sketch_.barriers(0));
}

ValueId RoleBuilder::copy(const Ring& ring, At at, const std::string& name) {
  const ValueId all = capture(ring.value);
  if (ring.single) return all;
  return element(all, ring.depth, at, name, ring.one);
}

ValueId RoleBuilder::rows_of(ValueId buffer, Rows rows) {
  if (rows.cut < 0) return buffer;
  const ir::Type type = type_of(buffer);
  std::vector<std::int64_t> shape = type->shape, offsets(shape.size(), 0);
  std::int64_t& extent = shape[static_cast<std::size_t>(rows.cut)];
  extent /= sketch_.parts();
  offsets[static_cast<std::size_t>(rows.cut)] = rows.part * extent;
  const auto whole = type->alloc_shape.empty() ? type->shape : type->alloc_shape;
  return make(NodeKind::rows, {buffer}, kernel_[buffer].name + "_rows",
              sketch_.buffer(shape, type->element, type->encoding, whole), std::move(offsets));
}

void RoleBuilder::wait(const Barriers& barriers, At at, bool inverse, const std::string& name) {
  const ValueId one = barrier(barriers, at, name);
  emit(NodeKind::wait, {one, parity(barriers.depth, at, inverse)});
}

void RoleBuilder::arrive(const Barriers& barriers, At at, const std::string& name) {
  emit(NodeKind::arrive, {barrier(barriers, at, name)});
}

}  // namespace twill::device
