#include <iterator>

#include "twill/device/role_inside.h"

/// The text's own loop over tiles, in each role. Rings go on from tile to tile, so that a role that
/// loads runs ahead into the next tile while others are at the end of this one.
namespace twill::device {

Result<void> RoleBuilder::tiles(const std::function<Result<void>()>& tile) {
  if (!sketch_.outer()) return tile();
  return sketch_.outer()->induction ? tile_loop(tile) : tile_while(tile);
}

/// Slot and phase of iteration `iteration` of the tile at hand.
std::pair<ValueId, ValueId> RoleBuilder::position(int depth, int iteration) {
  if (!sketch_.outer()) return {number(iteration % depth), number(iteration / depth % 2)};
  ring_depths_.insert(depth);
  if (!first_.contains(depth)) return {number(0), number(0)};  // of a pass that is done again
  if (iteration == 0) return first_.at(depth);
  const Thing slot{Thing::Kind::slot, {}, {}, depth}, phase{Thing::Kind::phase, {}, {}, depth};
  const At at{At::From::first, iteration};
  const auto known = counted_.find({phase, at});
  if (known != counted_.end()) return {counted_.at({slot, at}), known->second};
  const auto made = advanced(depth, position(depth, iteration - 1));
  counted_[{slot, at}] = made.first;
  counted_[{phase, at}] = made.second;
  return made;
}

/// A scalar that the loop over tiles carries.
RoleBuilder::Want RoleBuilder::carried_by_tiles(const ir::Carried& carried) {
  const auto known = tile_values_.find(carried.argument);
  if (known != tile_values_.end()) return known->second;
  if (sketch_.depends(carried.argument) || is_tile(ir::type_of(sketch_.program(), carried.init))) {
    return sketch_.refuse(sketch_.outer()->op, "carries tiles from tile to tile");
  }
  by_tiles_.push_back(carried);
  return add_value("new", ir::type_of(sketch_.program(), carried.argument));
}

Result<void> RoleBuilder::tile_loop(const std::function<Result<void>()>& tile) {
  const ir::Loop& outer = *sketch_.outer();
  const ir::Program& program = sketch_.program();
  now_ = &once_;
  Node node{NodeKind::loop};
  for (const ir::ValueId bound : {*outer.lower, *outer.upper, *outer.step}) {
    TWILL_TRY(node.operands.emplace_back(), want_scalar(bound));
  }
  const std::vector<ir::Carried> by_tiles = by_tiles_;
  const std::set<int> ring_depths = ring_depths_, tile_depths = tile_depths_;
  node.blocks.resize(1);
  Block& body = node.blocks.front();
  const auto argument = [&](const std::string& name, ir::Type type, ValueId first) {
    node.operands.push_back(first);
    node.results.push_back(add_value(name, type));
    body.arguments.push_back(add_value(name, type));
    return body.arguments.back();
  };
  body.arguments.push_back(add_value("tile", ir::type_of(program, *outer.induction)));
  tile_values_[*outer.induction] = body.arguments.front();
  for (const ir::Carried& carried : by_tiles) {
    TWILL_TRY(const ValueId first, want_scalar(carried.init));
    tile_values_[carried.argument] =
        argument(program.value(carried.argument).name, type_of(first), first);
  }
  const auto add_positions = [&](const std::set<int>& depths, const char* slot, const char* phase,
                                 std::map<int, std::pair<ValueId, ValueId>>& to) {
    for (const int depth : depths) {
      to[depth].first = depth == 1 ? number(0) : argument(slot, sketch_.i32(), number(0));
      to[depth].second = argument(phase, sketch_.i32(), number(0));
    }
  };
  add_positions(ring_depths, "slot", "phase", first_);
  add_positions(tile_depths, "tile_slot", "tile_phase", of_tile_);
  now_ = &before_;
  TWILL_TRY_VOID(tile());
  now_ = &behind_;
  for (const ir::Carried& carried : by_tiles) {
    TWILL_TRY(body.yields.emplace_back(), want_scalar(carried.yielded));
  }
  TWILL_TRY_VOID(yield_positions(ring_depths, tile_depths, body));
  take_sections(body);
  before_.push_back(std::move(node));
  return {};
}

/// Moves what was collected of a tile into the body of its loop.
void RoleBuilder::take_sections(Block& body) {
  for (Nodes* nodes : {&before_, &middle_, &behind_}) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(body.nodes));
    nodes->clear();
  }
}

/// Yields where the rings stand behind a tile.
Result<void> RoleBuilder::yield_positions(const std::set<int>& ring_depths,
                                          const std::set<int>& tile_depths, Block& body) {
  for (const int depth : ring_depths) {
    if (!positions_.contains(depth)) {
      if (depth > 1) {
        TWILL_TRY(positions_[depth].first, left({Thing::Kind::slot, {}, {}, depth}, sketch_.i32()));
      }
      TWILL_TRY(positions_[depth].second, left({Thing::Kind::phase, {}, {}, depth}, sketch_.i32()));
    }
    if (depth > 1) body.yields.push_back(positions_.at(depth).first);
    body.yields.push_back(positions_.at(depth).second);
  }
  for (const int depth : tile_depths) {
    const auto next = advanced(depth, of_tile_.at(depth));
    if (depth > 1) body.yields.push_back(next.first);
    body.yields.push_back(next.second);
  }
  return {};
}

/// The same for a loop that goes on under a condition. All that it carries are scalars, which every
/// role has.
Result<void> RoleBuilder::tile_while(const std::function<Result<void>()>& tile) {
  const ir::Loop& outer = *sketch_.outer();
  const ir::Program& program = sketch_.program();
  now_ = &once_;
  Node node{NodeKind::repeat};
  node.blocks.resize(2);
  Block &test = node.blocks[0], &body = node.blocks[1];
  for (const ir::Carried& carried : outer.carried) {
    if (sketch_.depends(carried.argument) || is_tile(ir::type_of(program, carried.init))) {
      return sketch_.refuse(outer.op, "carries tiles from tile to tile");
    }
    TWILL_TRY(const ValueId first, want_scalar(carried.init));
    node.operands.push_back(first);
    test.arguments.push_back(add_value(program.value(carried.argument).name, type_of(first)));
  }
  const std::set<int> ring_depths = ring_depths_, tile_depths = tile_depths_;
  {
    const Inside inside(*this, outer.op, test.nodes);
    for (std::size_t i = 0; i < outer.carried.size(); ++i) {
      inside_[{outer.carried[i].argument, {}}] = test.arguments[i];
    }
    const ir::OpId end = *ir::terminator(program, *outer.before);
    TWILL_TRY(test.yields.emplace_back(), want_scalar(program.op(end).operands.front()));
    for (const ir::Forwarded& forwarded : outer.forwarded) {
      TWILL_TRY(test.yields.emplace_back(), want_scalar(forwarded.passed));
    }
  }
  const auto argument = [&](const std::string& name, ir::Type type) {
    node.results.push_back(add_value(name, type));
    body.arguments.push_back(add_value(name, type));
    return body.arguments.back();
  };
  for (const ir::Forwarded& forwarded : outer.forwarded) {
    tile_values_[forwarded.argument] =
        argument(program.value(forwarded.argument).name, ir::type_of(program, forwarded.argument));
  }
  const auto add_position = [&](const char* name) {
    node.operands.push_back(number(0));
    test.arguments.push_back(add_value(name, sketch_.i32()));
    test.yields.push_back(test.arguments.back());
    return argument(name, sketch_.i32());
  };
  const auto add_positions = [&](const std::set<int>& depths, auto& to) {
    for (const int depth : depths) {
      to[depth].first = depth == 1 ? number(0) : add_position("slot");
      to[depth].second = add_position("phase");
    }
  };
  add_positions(ring_depths, first_);
  add_positions(tile_depths, of_tile_);
  now_ = &before_;
  TWILL_TRY_VOID(tile());
  now_ = &behind_;
  for (const ir::Carried& carried : outer.carried) {
    TWILL_TRY(body.yields.emplace_back(), want_scalar(carried.yielded));
  }
  TWILL_TRY_VOID(yield_positions(ring_depths, tile_depths, body));
  take_sections(body);
  before_.push_back(std::move(node));
  return {};
}

}  // namespace twill::device
