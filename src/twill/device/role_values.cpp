#include <algorithm>

#include "twill/device/role.h"
#include "twill/dialect/register_layouts.h"
#include "twill/ir/operands.h"

/// Values on demand.
namespace twill::device {

using ir::OpClass;
using ir::OpKind;

Result<ir::Type> RoleBuilder::own_type(ir::ValueId value, Rows rows) const {
  return sketch_.type_of(value, rows.cut, warps_);
}

void RoleBuilder::enter(ir::ValueId value, Rows rows, At at, ValueId made) {
  const auto op = sketch_.definition(value);
  if (op && in_open_region(*op)) {
    at = kRegion;
  } else if (!op || sketch_.where(*op) != Where::loop) {
    at = {};
  }
  made_[{{value, rows}, at}] = made;
}

RoleBuilder::Want RoleBuilder::want(ir::ValueId value, Rows rows, At at, ir::Type type) {
  const ir::Type plain = ir::type_of(program_, value);
  if (type == nullptr && is_tile(plain)) {
    TWILL_TRY(type, own_type(value, rows));
  }
  value = sketch_.behind_relayouts(value);
  rows = own_rows(value, rows);
  const auto inside = made_.find({{value, rows}, kRegion});
  if (inside != made_.end()) return relayout(inside->second, type);
  const auto kept = memory_.kept.find(value);
  if (kept != memory_.kept.end()) return capture(kept->second);
  if (value == sketch_.loop().induction) return counter(at);
  if (const ir::Carried* carried = sketch_.carried_argument(value)) {
    return argument(*carried, rows, at, type);
  }
  const auto op = sketch_.definition(value);
  if (!op) {
    const ir::Value& argument = program_.value(value);
    const ir::RegionId region = program_.block(*argument.block).region;
    for (const ir::Loop& outer : sketch_.around()) {
      if (program_.region(region).op == outer.op) return of_tiles(value, outer, rows, type);
    }
    if (program_.region(region).op != sketch_.function()) {
      return sketch_.refuse(program_.region(region).op,
                            "is a loop beside the planned one, which is not printed yet");
    }
    return capture(kernel_.arguments[argument.index]);
  }
  for (const ir::Loop& outer : sketch_.around()) {
    if (*op == outer.op) return of_tiles(value, outer, rows, type);
  }
  if (*op == sketch_.loop().op) return result(*sketch_.carried_result(value), rows, type);
  if (plain->kind == ir::TypeKind::memdesc) return memory(value, *op, rows, at);
  if (in_open_region(*op)) return in_region(value, *op, rows, at, type);
  if (sketch_.where(*op) != Where::loop) return per_tile_op(value, *op, rows, type);
  return in_loop(value, *op, rows, at, type);
}

/// Whether repeating a cheap operation is better than converting its value.
bool RoleBuilder::is_remade(ir::OpId id, ir::ValueId value, Rows rows, ir::Type type) const {
  const ir::Op& op = program_.op(id);
  if (type == nullptr || op.results.size() != 1) return false;
  const bool views = op.kind == OpKind::broadcast || op.kind == OpKind::expand_dims;
  const bool repeats =
      op.kind == OpKind::constant || op.kind == OpKind::splat || op.kind == OpKind::range;
  const bool converts = sketch_.depends(value) && type->shape.size() == 1;  // a row, for less
  const bool computes =
      ir::class_of(op.kind) == OpClass::elementwise && sketch_.is_light(value) && !converts;
  if (!views && !repeats && !computes) return false;
  const auto own = own_type(value, rows);
  return !own || *own != type;
}

/// The rows of parts of a value; a single entry with all rows if the value is not cut.
std::vector<Rows> RoleBuilder::rows_in(ir::ValueId value, const std::vector<int>& parts) const {
  const int cut = sketch_.cut_of(value);
  if (cut < 0) return {Rows{}};
  std::vector<Rows> rows;
  for (const int part : parts) rows.push_back({cut, part});
  return rows;
}

/// Rows under which the role keeps a value. If each part makes the whole value, copies of other
/// groups differ in time: the role keeps each by the part that wants the copy. The role's own are
/// one, kept by its first part.
Rows RoleBuilder::own_rows(ir::ValueId value, Rows rows) const {
  if (rows.cut >= 0) return rows;
  if (!sketch_.is_made_by_part(value)) return {};
  const int wanted = rows.part >= 0 ? rows.part : part_;
  const std::vector<OpId>& makers = sketch_.makers_of(value);
  if (makers.empty()) {
    for (const ir::ValueId operand : program_.op(*sketch_.definition(value)).operands) {
      if (sketch_.is_made_by_part(operand)) return own_rows(operand, {-1, wanted});
    }
  }
  std::optional<int> first;
  bool is_own = wanted < 0;
  for (const OpId maker : makers) {
    const int part = sketch_.origin(maker).part;
    if (!is_mine(maker)) continue;
    first = std::min(first.value_or(part), part);
    is_own = is_own || part == wanted;
  }
  return {-1, is_own && first ? *first : std::max(0, wanted)};
}

Rows RoleBuilder::rows_of(OpId op, ir::ValueId value) const {
  const int part = sketch_.origin(op).part;
  return part < 0 ? Rows{} : own_rows(value, {sketch_.cut_of(value), part});
}

/// Whether the role makes these rows by one of the ops.
bool RoleBuilder::makes(const std::vector<OpId>& makers, Rows rows) const {
  return std::any_of(makers.begin(), makers.end(), [&](OpId maker) {
    const int part = sketch_.origin(maker).part;
    return is_mine(maker) && (part < 0 || rows.part < 0 || part == rows.part);
  });
}

/// Whether an op of the role reads the result of that op of the plan.
bool RoleBuilder::reads(OpId op) const {
  const auto& edges = plan_.problem.dependences();
  return std::any_of(edges.begin(), edges.end(), [&](const problem::Dependence& it) {
    return it.carries_value && it.from == op && is_mine(it.to);
  });
}

/// Whether a step of the role takes these rows from shared memory into registers.
bool RoleBuilder::receives(ir::ValueId value, Rows rows) const {
  return std::any_of(mine_.begin(), mine_.end(), [&](OpId op) {
    return sketch_.deed(op).receives == value && rows_of(op, value) == rows;
  });
}

/// A value that an earlier window has left in registers.
RoleBuilder::Want RoleBuilder::from_past(const Key& key, ir::Type type) {
  TWILL_TRY(const ir::Type own, own_type(key.thing.value, key.thing.rows));
  return relayout(carried({key.thing, key.at.offset}, own), type);
}

RoleBuilder::Want RoleBuilder::in_loop(ir::ValueId value, ir::OpId op, Rows rows, At at,
                                       ir::Type type) {
  const Key key{{value, rows}, at};
  const auto known = made_.find(key);
  if (known != made_.end()) {
    // A change of layout through shared memory, if the tile is there already.
    const bool is_operand = type != nullptr && dialect::is_of_operand(type->encoding);
    const bool moves = is_operand && !dialect::is_of_product(type_of(known->second)->encoding);
    const auto lies = moves && written_.contains(key) ? placed(value, rows, at) : std::nullopt;
    return lies ? read(value, *lies, rows, type) : relayout(known->second, type);
  }
  const std::vector<OpId>& makers = sketch_.makers_of(value);
  const bool is_moved = std::any_of(makers.begin(), makers.end(),
                                    [&](OpId maker) { return sketch_.deed(maker).moves == value; });
  // A role that makes one part of a moved value reads the other parts from shared memory.
  const bool is_made =
      (makes(makers, rows) && !(is_moved && rows.part < 0)) || receives(value, rows);
  const auto copy = sketch_.copy_of(value);
  if (!makers.empty() && (is_made || !copy || !reads(*copy))) {
    if (!is_made) {
      return taken(value, rows, at, type);
    }
    if (!is_past(at)) {
      if (sketch_.program().op(op).kind == OpKind::wgmma) {
        return sketch_.refuse(op, "is still in flight where it is wanted, in " + name_,
                              "print it as CUDA (`twill emit cuda`)");
      }
      return sketch_.refuse(op, "is wanted before it is made, in " + name_);
    }
    return from_past(key, type);
  }
  // A ring's slot may be free again by then, but a step's registers are not.
  if (copy && is_past(at) && receives(value, rows)) return from_past(key, type);
  if (copy) return taken(value, rows, at, type);
  const ir::Op& source = program_.op(op);
  if (is_region(source) && only_reads(program_, op)) {
    TWILL_TRY_VOID(region_again(op, {std::max(0, rows.part)}, at, false));
    return relayout(made_.at(key), type);
  }
  if (source.kind == OpKind::load && sketch_.in_body(op) != op) {
    return sketch_.refuse(op, "is loaded under a condition, and wanted without it");
  }
  if (!is_pure(program_, op) && source.kind != OpKind::load) {
    return sketch_.refuse(op, "in the loop is no op of the plan");
  }
  if (is_remade(op, value, rows, type)) {
    const Key converted{key.thing, at, type};
    const auto found = made_.find(converted);
    if (found != made_.end()) return found->second;
    TWILL_TRY(const ValueId made, clone(op, rows, at, type));
    return made_[converted] = made;
  }
  TWILL_TRY_VOID(clone(op, rows, at));
  return relayout(made_.at(key), type);
}

/// Computes a per-tile op before the loop, or after the loop if the op needs its results. Loads
/// stay in the order of the plan's steps.
RoleBuilder::Want RoleBuilder::per_tile_op(ir::ValueId value, ir::OpId op, Rows rows,
                                           ir::Type type) {
  const bool remade = is_remade(op, value, rows, type);
  const Key key{{value, rows}, {}, remade ? type : nullptr};
  const auto known = made_.find(key);
  if (known != made_.end()) return relayout(known->second, type);
  const bool before = sketch_.where(op) == Where::before;
  if (!before && !behind_loop_) {
    return sketch_.refuse(op, "is wanted before the loop is over");
  }
  const bool loads = ir::class_of(program_.op(op).kind) == OpClass::load;
  if (loads) grew_ |= ordered_[op].insert(rows).second;
  const auto level = sketch_.level_of(op);
  if (!level) {
    return sketch_.refuse(op, "stands in a region beside the planned loop");
  }
  Nodes* const outer = now_;
  const bool hoists = before && (!behind_loop_ || loads);
  now_ = nodes_at(*level, hoists ? &before_ : front_ != nullptr ? front_ : now_);
  if (remade) {
    TWILL_TRY(const ValueId made, clone(op, rows, {}, type));
    made_[key] = made;
  } else {
    TWILL_TRY_VOID(again(op, rows, {}));
  }
  now_ = outer;
  return relayout(made_.at(key), type);
}

/// The loop's counter in the units of the text: from its lower bound, by its step.
RoleBuilder::Want RoleBuilder::counter(At at) {
  const ir::Loop& loop = sketch_.loop();
  const auto known = made_.find({*loop.induction, at});
  if (known != made_.end()) return known->second;
  const ir::Type type = ir::type_of(program_, *loop.induction);
  const auto lower = ir::constant_integer(program_, *loop.lower);
  const auto step = ir::constant_integer(program_, *loop.step);
  ValueId value;
  if (at.from == At::From::first && lower && step) {
    value = constant(*lower + at.offset * *step, type);
  } else {
    value = constant(at.offset, type);
    if (at.from != At::From::first) {
      value = at.from == At::From::window ? window_ : trips_;
      if (at.offset != 0) {
        value = integer(NodeKind::add, value, constant(at.offset, type), "n");
      }
    }
    if (step != 1) {
      TWILL_TRY(const ValueId by, want_scalar(*loop.step));
      value = integer(NodeKind::multiply, value, by, program_.value(*loop.induction).name);
    }
    if (lower != 0) {
      TWILL_TRY(const ValueId from, want_scalar(*loop.lower));
      value = integer(NodeKind::add, value, from, program_.value(*loop.induction).name);
    }
  }
  return made_[{*loop.induction, at}] = value;
}

RoleBuilder::Want RoleBuilder::argument(const ir::Carried& carried_value, Rows rows, At at,
                                        ir::Type type) {
  if (at.from == At::From::first) {
    if (at.offset == 0) return want(carried_value.init, rows, {}, type);
    return want(carried_value.yielded, rows, {at.from, at.offset - 1}, type);
  }
  if (spread_ + at.offset >= 1) {
    return want(carried_value.yielded, rows, {at.from, at.offset - 1}, type);
  }
  TWILL_TRY(const ir::Type own, own_type(carried_value.argument, rows));
  return relayout(carried({{carried_value.argument, rows}, at.offset}, own), type);
}

/// Results of the loop, for operations behind it.
RoleBuilder::Want RoleBuilder::result(const ir::Carried& carried_value, Rows rows, ir::Type type) {
  if (!behind_loop_ || role_ == nullptr || role_->sections.steady.empty()) {
    return sketch_.refuse(sketch_.loop().op, "has results that are wanted before they are there");
  }
  const Thing thing(carried_value.argument, rows);
  const auto awaited = made_.find({thing});
  if (awaited != made_.end()) return relayout(awaited->second, type);
  if (std::find(in_flight_.begin(), in_flight_.end(), Key{thing}) != in_flight_.end()) {
    return sketch_.refuse(sketch_.loop().op, "has a product in flight where it is wanted");
  }
  TWILL_TRY(const ir::Type own, own_type(carried_value.argument, rows));
  TWILL_TRY(const ValueId value, left(thing, own));
  return relayout(value, type);
}

/// A result of the sections for any thing that they carry.
RoleBuilder::Want RoleBuilder::left(const Thing& thing, ir::Type type) {
  const bool by_loop = spread_ == 0;
  const std::size_t index =
      by_loop ? place_in(carried_, Carry{thing, 0}) : place_in(results_, thing);
  return index < result_values_.size() ? result_values_[index] : add_value("new", type);
}

/// Rows of a value in shared memory, in that layout (null: any); nullopt if the plan has no place.
std::optional<ValueId> RoleBuilder::placed(ir::ValueId value, Rows rows, At at,
                                           ir::Attribute layout) {
  const auto fits = [&](const Ring& ring) {
    return layout == nullptr || ring.one->encoding == layout;
  };
  for (const auto& [index, loaded] : memory_.invariant_buffers) {
    const auto& buffers = plan_.kernel->per_tile_ops[index].buffers;
    const Ring& ring = memory_.rings.at(buffers.front());
    if (loaded != value || !fits(ring)) continue;
    const std::string& name = program_.value(value).name;
    return rows_of(copy(ring, {At::From::tile, 0}, name), rows);
  }
  for (const auto& [op, buffer] : sketch_.places_of(value)) {
    const auto laid = memory_.rings.find(buffer);
    if (laid == memory_.rings.end() || !fits(laid->second)) continue;
    const Ring& ring = laid->second;
    const int part = sketch_.origin(op).part;
    const bool whole = ring.joint || part < 0;
    if (!(whole || part == rows.part || rows.part < 0)) continue;
    const ValueId one = copy(ring, at, plan_.problem[op].name);
    return whole ? rows_of(one, rows) : one;
  }
  return std::nullopt;
}

/// A tile in shared memory: at its place in the plan, or a view of that place.
RoleBuilder::Want RoleBuilder::memory(ir::ValueId value, ir::OpId id, Rows rows, At at) {
  const ir::Op& op = program_.op(id);
  const ir::Attribute layout = ir::type_of(program_, value)->encoding;
  if (op.kind == OpKind::shared_alloc && !op.operands.empty()) {
    const ir::ValueId source = sketch_.behind_relayouts(op.operands.front());
    if (const auto again = sketch_.ring_of(source)) {
      TWILL_TRY(const ValueId one, brought(*again));
      return rows_of(one, rows);
    }
    const bool is_copied = sketch_.copy_of(source).has_value();
    for (const ir::ValueId of : {is_copied ? source : value, is_copied ? value : source}) {
      const auto found = placed(of, rows, at, layout);
      if (!found) continue;
      if (in_open_region(id) && !sketch_.copy_of(of) && is_of_branch(of)) {
        TWILL_TRY_VOID(put_in_place(id, *found, rows, at));
      }
      return *found;
    }
    const bool in_region = in_open_region(id);
    if (!in_region && sketch_.where(id) == Where::before) return put_in_front(id, rows);
    if (behind_loop_ || sketch_.where(id) != Where::loop || in_region) {
      return put_down(id, rows, at);
    }
    return sketch_.refuse(
        id, "puts a tile into shared memory that no group has for " + program_.value(source).name);
  }
  if (op.kind == OpKind::buffer_transpose && op.order) {
    const int cut = sketch_.operand_cut(id, 0, rows.cut);
    TWILL_TRY(const ValueId from, want(op.operands.front(), {cut, rows.part}, at));
    const ir::Type type = type_of(from);
    std::vector<std::int64_t> shape, whole;
    for (const std::int64_t dimension : *op.order) {
      const auto d = static_cast<std::size_t>(dimension);
      shape.push_back(type->shape[d]);
      if (!type->alloc_shape.empty()) whole.push_back(type->alloc_shape[d]);
    }
    return make(NodeKind::transpose, {from}, program_.value(value).name,
                sketch_.buffer(shape, type->element, layout, whole), *op.order);
  }
  return sketch_.refuse(id, "is a view of shared memory that is not printed as TTGIR yet");
}

RoleBuilder::Want RoleBuilder::read(ir::ValueId value, ValueId buffer, Rows rows, ir::Type type) {
  if (type == nullptr) {
    TWILL_TRY(type, own_type(value, rows));
  }
  return make(NodeKind::read, {buffer}, program_.value(value).name, type);
}

/// A value of the loop from shared memory: loaded there, or staged by another role.
RoleBuilder::Want RoleBuilder::taken(ir::ValueId value, Rows rows, At at, ir::Type type) {
  auto buffer = passed_on(value, rows, at);
  if (!buffer) buffer = placed(value, rows, at);
  if (!buffer) {
    return sketch_.refuse(*sketch_.definition(value),
                          "is made by another group than " + name_ + ", which needs it");
  }
  TWILL_TRY(const ValueId tile, read(value, *buffer, rows, type));
  TWILL_TRY(const ir::Type own, own_type(value, rows));
  if (type_of(tile) == own) made_[{{value, rows}, at}] = tile;
  return tile;
}

/// Layout in which threads store rows of a product without shared memory; null where the text's is
/// better or needs none. Needs neighbours adjacent in memory, and addresses cheap to repeat.
Result<ir::Attribute> RoleBuilder::stored_layout(const ir::Op& store, Rows rows) const {
  constexpr std::int64_t kLeastBits = 64;  // least size of neighbours, for stores of whole sectors
  const auto access = ir::memory_access(store);
  if (!access || !access->source) return nullptr;
  const ir::ValueId tile = sketch_.behind_relayouts(*access->source);
  for (const ir::ValueId operand : store.operands) {
    if (operand != *access->source && !sketch_.is_light(operand)) return nullptr;
  }
  TWILL_TRY(const ir::Type places, own_type(access->address, rows));
  TWILL_TRY(const ir::Type made, own_type(tile, rows));
  const auto neighbours = dialect::neighbours_of(places->encoding);
  const bool in_row = neighbours && neighbours->dimension == 1 &&
                      neighbours->count * ir::element_bits(made) >= kLeastBits;
  return in_row ? dialect::in_rows(sketch_.types(), made) : nullptr;
}

/// The type in which an operation wants an operand, so that its result has type `result`.
Result<ir::Type> RoleBuilder::operand_type(ir::OpId id, std::size_t index, Rows rows,
                                           ir::Type result) const {
  const ir::Op& op = program_.op(id);
  TWILL_TRY(const ir::Type own, own_type(op.operands[index], rows));
  const auto access = ir::memory_access(op);
  if (access && !access->by_descriptor && access->space == ir::AccessSpace::global &&
      is_tile(own)) {
    // Addresses, values and masks share a layout, whatever layout their own ops give them.
    TWILL_TRY(const ir::Type places, own_type(access->address, rows));
    ir::Attribute layout = places->encoding;
    if (op.kind == OpKind::store) {
      TWILL_TRY(const ir::Attribute better, stored_layout(op, rows));
      if (better != nullptr) layout = better;
    }
    return layout == nullptr ? own : sketch_.with_layout(own, layout);
  }
  if (!is_tile(own) || result == nullptr || !is_tile(result)) return own;
  if (is_elementwise(op) || op.kind == OpKind::broadcast) {
    return sketch_.with_layout(own, result->encoding);
  }
  if (op.kind == OpKind::expand_dims) {
    return sketch_.with_layout(own, dialect::sliced(sketch_.types(), *op.axis, result->encoding));
  }
  if (op.kind == OpKind::reduce) {
    const auto slice = dialect::slice_of(result->encoding);
    if (slice && slice->dimension == op.axis) return sketch_.with_layout(own, slice->parent);
  }
  return own;
}

RoleBuilder::Want RoleBuilder::clone(ir::OpId id, Rows rows, At at, ir::Type type) {
  const ir::Op& op = program_.op(id);
  if (is_region(op)) {
    return sketch_.refuse(id, "has regions, which are not printed as TTGIR here yet");
  }
  if (type == nullptr && !op.results.empty()) {
    TWILL_TRY(type, own_type(op.results.front(), rows));
  }
  Node node{NodeKind::source};
  node.source = id;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const int cut = sketch_.operand_cut(id, i, rows.cut);
    const Rows part{cut, rows.part};
    TWILL_TRY(const ir::Type wanted, operand_type(id, i, part, type));
    TWILL_TRY(node.operands.emplace_back(), want(op.operands[i], part, at, wanted));
  }
  if (op.kind == OpKind::range) {
    const std::int64_t length = type->shape.front();
    const std::int64_t start = op.start + (rows.cut < 0 ? 0 : rows.part * length);
    node.numbers = {start, start + length};
  }
  if (op.kind == OpKind::constant && rows.cut >= 0 && op.constant->elements.size() != 1) {
    return sketch_.refuse(id, "is a constant that is not the same everywhere, and is cut");
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    ir::Type own = type;
    if (i > 0) {
      TWILL_TRY(own, own_type(op.results[i], rows));
    }
    node.results.push_back(add_value(program_.value(op.results[i]).name, own));
  }
  const std::vector<ValueId> results = node.results;
  now_->push_back(std::move(node));
  const auto own =
      op.results.empty() ? Result<ir::Type>(nullptr) : own_type(op.results.front(), rows);
  for (std::size_t i = 0; i < results.size() && own && *own == type; ++i) {
    enter(op.results[i], rows, at, results[i]);
  }
  return results.empty() ? ValueId() : results.front();
}

}  // namespace twill::device
