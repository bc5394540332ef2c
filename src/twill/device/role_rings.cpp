#include "twill/device/role.h"

/// Slots and phases: constants in the prologue, carried by the loop.
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
  if (!is_carried(at)) return position(depth, at).slot;
  return carried({{Thing::Kind::slot, depth}, at.offset}, sketch_.i32());
}

ValueId RoleBuilder::parity(int depth, At at, bool inverse) {
  const bool is_number = !sketch_.walks() || behind_tiles_;
  if (at.from == At::From::tile && is_number) return number(inverse ? 1 : 0);
  if (at.from == At::From::first && is_number) {
    return number((at.offset / depth % 2) ^ (inverse ? 1 : 0));
  }
  const ValueId phase = is_carried(at)
                            ? carried({{Thing::Kind::phase, depth}, at.offset}, sketch_.i32())
                            : position(depth, at).phase;
  return inverse ? integer(NodeKind::exclusive_or, phase, number(1), "parity") : phase;
}

/// Position of a ring, which the steady state and the drain carry.
Position RoleBuilder::position(int depth, At at) {
  if (is_carried(at)) return {depth > 1 ? slot(depth, at) : ValueId(), parity(depth, at, false)};
  const bool first = at.from == At::From::first;
  const bool tile = first || at.from == At::From::tile;
  const int iteration = first ? at.offset : 0;
  if (iteration < 0) return {number(0), number(0)};  // nothing is done with that copy
  if (tile && !sketch_.walks()) {
    return {number(iteration % depth), number(iteration / depth % 2)};
  }
  if (tile) {
    grew_ |= (first ? ring_depths_ : tile_depths_).insert(depth).second;
    const At begin{first ? At::From::start : At::From::tile};
    if (!standing(depth, begin)) return {number(0), number(0)};  // this pass will be repeated
    if (iteration == 0) at = begin;
  }
  if (!standing(depth, at))
    stand(depth, at, advanced(depth, position(depth, {at.from, at.offset - 1})));
  return *standing(depth, at);
}

/// Position of a ring, if known. A ring with one copy has no slot.
std::optional<Position> RoleBuilder::standing(int depth, At at) const {
  const auto slot = made_.find({{Thing::Kind::slot, depth}, at});
  const auto phase = made_.find({{Thing::Kind::phase, depth}, at});
  if (phase == made_.end()) return std::nullopt;
  return Position{slot == made_.end() ? ValueId() : slot->second, phase->second};
}

/// Position of a ring one copy after `now`.
Position RoleBuilder::advanced(int depth, Position now) {
  const auto [slot, phase] = now;
  if (depth == 1) return {slot, integer(NodeKind::exclusive_or, phase, number(1), "phase")};
  const ValueId one_on = integer(NodeKind::add, slot, number(1), "slot");
  const ValueId wraps = integer(NodeKind::equal, one_on, number(depth), "wraps");
  const ValueId next = make(NodeKind::choose, {wraps, number(0), one_on}, "slot", sketch_.i32());
  const ValueId lap = make(NodeKind::convert, {wraps}, "lap", sketch_.i32());
  return {next, integer(NodeKind::exclusive_or, phase, lap, "phase")};
}

/// Notes the position of a ring at that point.
void RoleBuilder::stand(int depth, At at, Position position) {
  if (depth > 1) made_[{{Thing::Kind::slot, depth}, at}] = position.slot;
  made_[{{Thing::Kind::phase, depth}, at}] = position.phase;
}

/// Slots and phases of rings of these depths.
std::vector<Thing> RoleBuilder::positions(const std::set<int>& depths) {
  std::vector<Thing> all;
  for (const int depth : depths) {
    if (depth > 1) all.emplace_back(Thing::Kind::slot, depth);
    all.emplace_back(Thing::Kind::phase, depth);
  }
  return all;
}

/// Makes a loop carry positions, at that point in its body. Returns the positions behind the loop.
std::map<Key, ValueId> RoleBuilder::carry_positions(const std::vector<Thing>& things, At at,
                                                    const std::string& of, Node& node) {
  std::map<Key, ValueId> behind;
  for (const Thing& thing : things) {
    const ValueId first = is_known({thing, at}) ? made_.at({thing, at}) : number(0);
    made_[{thing, at}] = carry(node, of + name_of(thing), sketch_.i32(), first);
    behind[{thing, at}] = node.results.back();
  }
  return behind;
}

/// Moves positions on by one copy, and passes them to the next iteration.
void RoleBuilder::yield_positions(const std::vector<Thing>& things, At at, bool advance,
                                  Block& block) {
  for (const Thing& thing : things) {
    const bool moves = advance && thing.kind == Thing::Kind::phase;
    if (moves) stand(thing.depth, at, advanced(thing.depth, *standing(thing.depth, at)));
  }
  for (const Thing& thing : things) block.yields.push_back(made_.at({thing, at}));
}

/// A copy of a ring; the same value for all uses in one block.
ValueId RoleBuilder::copy(const Ring& ring, At at, const std::string& name) {
  const ValueId all = capture(ring.value);
  if (ring.single) return all;
  const auto known = derived_.find({all, at, nullptr, now_});
  if (known != derived_.end()) return known->second;
  const ValueId which = slot(ring.depth, at);
  return derived_[{all, at, nullptr, now_}] = make(NodeKind::element, {all, which}, name, ring.one);
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

void RoleBuilder::wait(const Ring& barriers, At at, bool inverse, const std::string& name) {
  const ValueId one = copy(barriers, at, name);
  emit(NodeKind::wait, {one, parity(barriers.depth, at, inverse)});
}

void RoleBuilder::arrive(const Ring& barriers, At at, const std::string& name) {
  std::vector<ValueId> operands{copy(barriers, at, name)};
  if (is_past(at) && spread_ + at.offset < 0) operands.push_back(begun(at));
  emit(NodeKind::arrive, std::move(operands));
}

/// Whether there is an iteration of that offset, in a loop without a prologue.
ValueId RoleBuilder::begun(At at) {
  if (at.offset >= 0) return constant(1, sketch_.i1());
  if (at.from == At::From::first) return constant(0, sketch_.i1());
  return carried({Thing::Kind::begun, at.offset}, sketch_.i1());
}

/// Announces the bytes that a channel brings.
void RoleBuilder::expect(plan::ChannelId channel, At at) {
  emit(NodeKind::expect, {copy(memory_.full.at(channel), at, "full"), constant(1, sketch_.i1())},
       {}, {plan_[channel].bytes});
}

/// Rows of a loaded tile that another role staged here; nullopt if the role reads the copy itself.
std::optional<ValueId> RoleBuilder::passed_on(ir::ValueId value, Rows rows, At at) {
  for (std::size_t i = 0; i < plan_.values.size() && sketch_.copy_of(value); ++i) {
    const OpId op(i);
    const auto staged = plan_.values[i].staged;
    if (!staged || is_mine(op) || !reads(op) || sketch_.deed(op).receives != value) continue;
    if (rows_of(op, value) != rows && rows_of(op, value) != Rows{}) continue;
    const Ring& ring = memory_.rings.at(*staged);
    const ValueId one = copy(ring, at, plan_.problem[op].name);
    return ring.joint || rows_of(op, value) != rows ? rows_of(one, rows) : one;
  }
  return std::nullopt;
}

}  // namespace twill::device
