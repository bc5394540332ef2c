#include <algorithm>
#include <utility>

#include "twill/device/role.h"

/// Steps of a role in their order: before the loop, its sections, after it.
namespace twill::device {

namespace {

/// Limit of passes; more passes show a fault in the kernel or in this room.
constexpr int kMostPasses = 40;

/// Whether a role does nothing for iterations that began in earlier windows but wait, and release
/// what they read. `pass` and `take` are not printed.
bool only_releases(const plan::Sections& sections) {
  return std::all_of(sections.drain.begin(), sections.drain.end(), [](const plan::Step& step) {
    return step.kind == plan::StepKind::drain_groups || step.kind == plan::StepKind::release ||
           step.kind == plan::StepKind::fence || step.kind == plan::StepKind::pass ||
           step.kind == plan::StepKind::take;
  });
}

/// Whether a window first waits for products of earlier iterations, and then issues its own.
bool waits_first(const plan::Sections& sections) {
  const auto waits = [](const plan::Step& step) {
    return step.kind == plan::StepKind::drain_groups && step.queue == plan::Mechanism::wgmma;
  };
  const auto first = std::find_if(
      sections.steady.begin(), sections.steady.end(),
      [&](const plan::Step& step) { return step.kind == plan::StepKind::issue || waits(step); });
  return first != sections.steady.end() && waits(*first);
}

}  // namespace

Result<Block> RoleBuilder::build(const plan::Role& role) {
  role_ = &role;
  for (const auto* list : {&role.before, &role.sections.prologue, &role.sections.steady,
                           &role.sections.drain, &role.after}) {
    for (const plan::Step& step : *list) {
      if (step.op) mine_.insert(*step.op);
    }
  }
  spread_ = needs_prologue() ? role.sections.spread : 0;
  find_orders();
  const std::size_t values = kernel_.values.size();
  for (int count = 0; count < kMostPasses; ++count) {  // until a pass wants no new value
    kernel_.values.resize(values);
    begin_pass();
    TWILL_TRY_VOID(once(role));
    if (!grew_) return Block{{}, all_nodes(), {}};
  }
  return sketch_.refuse(sketch_.loop().op, "needs ever more values from earlier iterations");
}

/// Whether the loop begins behind a prologue. Without one, a window meets at most one iteration
/// that never was. The prologue is kept where threads compute with products of the loop: two such
/// roles were slower without (docs/hardware-ttgir.md). It is also kept where a window first waits:
/// ptxas then serializes products whose sums begin as numbers (C7515, Triton 3.9).
bool RoleBuilder::needs_prologue() const {
  const plan::Sections& sections = role_->sections;
  if (!only_releases(sections) || sections.spread > 1 || waits_first(sections)) return true;
  const auto& edges = plan_.problem.dependences();
  const auto how = [&](OpId op) { return plan_.mechanisms[op.index()]; };
  return std::any_of(edges.begin(), edges.end(), [&](const problem::Dependence& it) {
    return is_mine(it.from) && is_mine(it.to) && how(it.from) == plan::Mechanism::wgmma &&
           how(it.to) == plan::Mechanism::threads;
  });
}

/// Finds stores of boxes, and orders through global memory, that the role's steps have to keep.
void RoleBuilder::find_orders() {
  for (const plan::PerTileOp& op : plan_.kernel->per_tile_ops) {
    stores_boxes_ |= op.sender && &plan_[*op.sender] == role_;
  }
  const auto how = [&](OpId op) { return plan_.mechanisms[op.index()]; };
  for (const OpId op : mine_) stores_boxes_ |= how(op) == plan::Mechanism::bulk_store;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (!it.through_memory) continue;
    order_.kept |= is_mine(it.to);
    if (!is_mine(it.from)) continue;
    order_.stored_for_readers |= how(it.from) == plan::Mechanism::bulk_store;
    order_.written_for_copies |=
        how(it.to) == plan::Mechanism::tma_load || how(it.to) == plan::Mechanism::bulk_store;
  }
}

void RoleBuilder::begin_pass() {
  static_cast<Pass&>(*this) = {};
  around_.assign(sketch_.around().size(), {});
  now_ = &before_;
}

Result<void> RoleBuilder::once(const plan::Role& role) {
  TWILL_TRY_VOID(sketch_.walks() ? tiles_of(0) : tile());
  behind_tiles_ = sketch_.walks();
  now_ = behind_tiles_ ? &around_.front() : &behind_;
  return steps(role.tail);  // boxes stay until they are read
}

/// Does one tile: the steps in front of the loop, its sections, and the steps behind it.
Result<void> RoleBuilder::tile() {
  now_ = &before_;
  TWILL_TRY_VOID(steps(role_->before));
  now_ = &middle_;
  const plan::Sections& sections = role_->sections;
  if (!sections.prologue.empty() || !sections.steady.empty() || !sections.drain.empty()) {
    TWILL_TRY(const ValueId count, trip_count());
    now_ = &middle_;
    if (spread_ == 0) {
      TWILL_TRY_VOID(loop(count));
      leave_in_flight({At::From::last, 0});
    } else {
      TWILL_TRY(result_values_, branch(0, count));
    }
  }
  now_ = &behind_;
  behind_loop_ = true;
  begin_section(At::From::tile);
  in_flight_ = left_in_flight_;
  return steps(role_->after);
}

Result<void> RoleBuilder::steps(const std::vector<plan::Step>& steps) {
  for (const plan::Step& one : steps) {
    TWILL_TRY_VOID(step(one));
  }
  return {};
}

/// Iterations of the loop, rounded up; at most zero for an empty loop.
Result<ValueId> RoleBuilder::trip_count() {
  now_ = &before_;
  const ir::Loop& loop = sketch_.loop();
  TWILL_TRY(ValueId count, want_scalar(*loop.upper));
  const ir::Type type = type_of(count);
  if (type->kind != ir::TypeKind::integer) {
    return sketch_.refuse(loop.op, "counts in " + type->text);
  }
  if (ir::constant_integer(program_, *loop.lower) != 0) {
    TWILL_TRY(const ValueId lower, want_scalar(*loop.lower));
    count = integer(NodeKind::subtract, count, lower, "span");
  }
  const auto step = ir::constant_integer(program_, *loop.step);
  if (step == 1) return count;
  TWILL_TRY(const ValueId by, want_scalar(*loop.step));
  const ValueId less =
      step ? constant(*step - 1, type) : integer(NodeKind::subtract, by, constant(1, type), "less");
  return integer(NodeKind::divide, integer(NodeKind::add, count, less, "span"), by, "trips");
}

Result<ir::Type> RoleBuilder::type_of(const Thing& thing) const {
  if (thing.kind == Thing::Kind::begun) return sketch_.i1();
  if (thing.kind != Thing::Kind::value) return sketch_.i32();
  return own_type(thing.value, thing.rows);
}

/// Builds the way with exactly `trips` iterations.
Result<std::vector<ValueId>> RoleBuilder::short_way(int trips, const std::vector<ir::Type>& types) {
  begin_section(At::From::first);
  short_trips_ = trips;
  TWILL_TRY_VOID(steps(role_->sections.short_trips[static_cast<std::size_t>(trips)]));
  return leave({At::From::first, trips}, types);
}

/// Builds the way with more than `trips` iterations.
Result<std::vector<ValueId>> RoleBuilder::long_way(int trips, ValueId count,
                                                   const std::vector<ir::Type>& types) {
  begin_section(At::From::first);
  if (trips + 1 < spread_) return branch(trips + 1, count);
  TWILL_TRY_VOID(steps(role_->sections.prologue));
  TWILL_TRY_VOID(loop(count));
  return leave({At::From::last, 0}, types);
}

/// Builds a branch: with at most `trips` iterations the role takes a short way; with more the role
/// goes on. A known number needs no branch. Triton 3.6 fails an assertion at a load in an arm that
/// a constant never takes.
Result<std::vector<ValueId>> RoleBuilder::branch(int trips, ValueId count) {
  std::vector<ir::Type> types;
  for (const Thing& result : results_) {
    TWILL_TRY(types.emplace_back(), type_of(result));
  }
  if (const auto known = ir::constant_trip_count(program_, sketch_.loop())) {
    return *known <= trips ? short_way(trips, types) : long_way(trips, count, types);
  }
  const ValueId few = integer(NodeKind::at_most, count, constant(trips, type_of(count)), "short");
  Node node{NodeKind::branch, {few}};
  node.blocks.resize(2);
  Block &less = node.blocks[0], &more = node.blocks[1];
  Nodes* const outer = now_;
  const auto in_flight = in_flight_;
  const auto consumed = consumed_;
  now_ = &less.nodes;
  TWILL_TRY(less.yields, short_way(trips, types));
  now_ = &more.nodes;
  in_flight_ = in_flight;
  consumed_ = consumed;
  TWILL_TRY(more.yields, long_way(trips, count, types));
  now_ = outer;
  for (std::size_t i = 0; i < types.size(); ++i) {
    node.results.push_back(add_value(name_of(results_[i]), types[i]));
  }
  std::vector<ValueId> results = node.results;
  now_->push_back(std::move(node));
  return results;
}

/// Values that later ops need, as they are at the end of the sections.
Result<std::vector<ValueId>> RoleBuilder::leave(At at, const std::vector<ir::Type>& types) {
  std::vector<ValueId> left;
  leave_in_flight(at);
  for (std::size_t i = 0; i < types.size(); ++i) {
    TWILL_TRY(left.emplace_back(), thing(results_[i], at, types[i]));
  }
  return left;
}

/// Gives a thing that loops carry, at a point.
RoleBuilder::Want RoleBuilder::thing(const Thing& what, At at, ir::Type type) {
  if (what.kind == Thing::Kind::slot) return slot(what.depth, at);
  if (what.kind == Thing::Kind::phase) return parity(what.depth, at, false);
  if (what.kind == Thing::Kind::begun) return begun(at);
  return want(what.value, what.rows, at, type);
}

/// A value from the window before: an argument of the loop, or a result behind the loop.
ValueId RoleBuilder::carried(const Carry& carry, ir::Type type) {
  place_in(carried_, carry);
  const bool inside = section_ == At::From::window;
  const Key key{carry.thing, {inside ? At::From::window : At::From::last, carry.offset}};
  if (!is_known(key)) made_[key] = add_value("new", type);  // this pass will be repeated
  return made_.at(key);
}

/// Begins a section, which knows no value of another section.
void RoleBuilder::begin_section(At::From section) {
  const auto is_of_sections = [](At::From from) {
    return from == At::From::first || from == At::From::window || from == At::From::last;
  };
  section_ = section;
  std::erase_if(made_, [&](const auto& it) { return is_of_sections(it.first.at.from); });
  std::erase_if(written_, [&](const Key& it) { return is_of_sections(it.at.from); });
}

/// Enters a section from another section, `later` windows on. Products in flight, and consumed
/// products, get their points in the new section.
void RoleBuilder::enter_section(At::From section, int later) {
  const auto moved = [&](Key key) {
    if (key.at.from == section_) key.at = {section, key.at.offset - later};
    return key;
  };
  std::transform(in_flight_.begin(), in_flight_.end(), in_flight_.begin(), moved);
  std::set<Key> consumed;
  for (const Key& key : consumed_) consumed.insert(moved(key));
  consumed_ = std::move(consumed);
  begin_section(section);
}

/// Carried values whose products are in flight at `end`, in the order of their issue.
std::vector<Thing> RoleBuilder::carried_in_flight(At end) const {
  std::vector<Thing> found;
  for (const Key& key : in_flight_) {
    if (key.at == end && sketch_.carried_argument(key.thing.value) != nullptr) {
      found.push_back(key.thing);  // no window has waited since the last one
    }
    if (key.at != At{end.from, end.offset - 1} || consumed_.contains(key)) continue;
    for (const ir::Carried& it : sketch_.loop().carried) {
      if (key.thing.value != sketch_.behind_relayouts(it.yielded)) continue;
      found.emplace_back(it.argument, key.thing.rows);
    }
  }
  return found;
}

/// Keeps results of the loop for which a later wait is needed. Their products are in flight when
/// the sections end, by the loop or by a short trip count. A wait for more products is harmless.
void RoleBuilder::leave_in_flight(At end) {
  for (const Thing& thing : carried_in_flight(end)) {
    auto& left = left_in_flight_;
    if (std::find(left.begin(), left.end(), Key{thing}) == left.end()) left.push_back({thing});
  }
}

/// Passes products in flight at the end of a window to the begin of the next window.
void RoleBuilder::go_on_in_flight() {
  std::vector<Key> over;
  for (const Thing& thing : carried_in_flight({At::From::window, 1})) {
    over.push_back({thing, {At::From::window, 0}});
  }
  grew_ |= over != over_back_edge_;
  over_back_edge_ = std::move(over);
}

std::string RoleBuilder::name_of(const Thing& thing) const {
  if (thing.kind == Thing::Kind::value) return program_.value(thing.value).name;
  if (thing.kind == Thing::Kind::begun) return "begun";
  return thing.kind == Thing::Kind::slot ? "slot" : "phase";
}

Result<void> RoleBuilder::loop(ValueId count) {
  const int spread = spread_;
  const std::vector<Carry> carries = carried_;
  const ir::Type type = type_of(count);
  section_ = At::From::first;
  Node node{NodeKind::loop, {constant(spread, type), count, constant(1, type)}};
  node.blocks.resize(1);
  Block& body = node.blocks.front();
  body.arguments.push_back(add_value("n", type));
  std::vector<ir::Type> types;
  std::vector<ValueId> arguments;
  for (const auto& [what, offset] : carries) {
    TWILL_TRY(types.emplace_back(), type_of(what));
    TWILL_TRY(const ValueId first, thing(what, {At::From::first, spread + offset}, types.back()));
    arguments.push_back(carry(node, name_of(what), types.back(), first));
  }
  const auto enter_all = [&](At::From from, const std::vector<ValueId>& values) {
    for (std::size_t i = 0; i < carries.size(); ++i) {
      made_[{carries[i].thing, {from, carries[i].offset}}] = values[i];
    }
  };
  Nodes* const outer = now_;
  now_ = &body.nodes;
  enter_section(At::From::window, spread);
  if (spread == 0) in_flight_ = over_back_edge_;  // no prologue has begun them
  window_ = body.arguments.front();
  enter_all(At::From::window, arguments);
  TWILL_TRY_VOID(steps(role_->sections.steady));
  for (std::size_t i = 0; i < carries.size(); ++i) {
    const At next{At::From::window, carries[i].offset + 1};
    TWILL_TRY(body.yields.emplace_back(), thing(carries[i].thing, next, types[i]));
  }
  if (spread == 0) go_on_in_flight();
  const std::vector<ValueId> results = node.results;
  now_ = outer;
  now_->push_back(std::move(node));
  enter_section(At::From::last, 1);
  trips_ = count;
  enter_all(At::From::last, results);
  if (spread == 0) {
    in_flight_ = over_back_edge_;
    for (Key& key : in_flight_) key.at.from = At::From::last;
  }
  TWILL_TRY_VOID(steps(role_->sections.drain));
  for (std::size_t i = 0; i < carries.size() && spread == 0; ++i) {
    result_values_.push_back(made_.at({carries[i].thing, {At::From::last, carries[i].offset}}));
  }
  return {};
}

}  // namespace twill::device
