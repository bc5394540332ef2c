#include <iterator>

#include "twill/device/role_inside.h"

/// The text's own loop over tiles, in each role. Rings go on from tile to tile. So a role that
/// loads runs ahead into the next tile while others are at the end of this one.
namespace twill::device {

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

/// The part of a `while` loop over tiles that says whether it goes on. All that such a loop carries
/// are scalars, which every role has.
Result<void> RoleBuilder::test_tile(const ir::Loop& outer, Node& node) {
  const ir::Program& program = sketch_.program();
  Block& test = node.blocks.front();
  for (const ir::Carried& carried : outer.carried) {
    if (sketch_.depends(carried.argument) || is_tile(ir::type_of(program, carried.init))) {
      return sketch_.refuse(outer.op, "carries tiles from tile to tile");
    }
    TWILL_TRY(const ValueId first, want_scalar(carried.init));
    node.operands.push_back(first);
    test.arguments.push_back(add_value(program.value(carried.argument).name, type_of(first)));
  }
  const Inside inside(*this, outer.op, test.nodes);
  for (std::size_t i = 0; i < outer.carried.size(); ++i) {
    inside_[{outer.carried[i].argument, {}}] = test.arguments[i];
  }
  const ir::OpId end = *ir::terminator(program, *outer.before);
  TWILL_TRY(test.yields.emplace_back(), want_scalar(program.op(end).operands.front()));
  for (const ir::Forwarded& forwarded : outer.forwarded) {
    TWILL_TRY(test.yields.emplace_back(), want_scalar(forwarded.passed));
  }
  return {};
}

/// Does all tiles: one, or those of a loop of the text's own, with what it carries and with slots
/// and phases of the rings.
Result<void> RoleBuilder::tiles(const std::function<Result<void>()>& tile) {
  if (!sketch_.outer()) return tile();
  const ir::Loop& outer = *sketch_.outer();
  const ir::Program& program = sketch_.program();
  const bool counts = outer.induction.has_value();
  const std::vector<ir::Carried> carries = counts ? by_tiles_ : outer.carried;
  const std::set<int> ring_depths = ring_depths_, tile_depths = tile_depths_;
  now_ = &once_;
  Node node{counts ? NodeKind::loop : NodeKind::repeat};
  node.blocks.resize(counts ? 1 : 2);
  Block &test = node.blocks.front(), &body = node.blocks.back();
  const auto argument = [&](const std::string& name, ir::Type type) {
    node.results.push_back(add_value(name, type));
    body.arguments.push_back(add_value(name, type));
    return body.arguments.back();
  };
  const auto carry = [&](const std::string& name, ir::Type type, ValueId first) {
    node.operands.push_back(first);
    if (!counts) {
      test.arguments.push_back(add_value(name, type));
      test.yields.push_back(test.arguments.back());
    }
    return argument(name, type);
  };
  if (counts) {
    for (const ir::ValueId bound : {*outer.lower, *outer.upper, *outer.step}) {
      TWILL_TRY(node.operands.emplace_back(), want_scalar(bound));
    }
    body.arguments.push_back(add_value("tile", ir::type_of(program, *outer.induction)));
    tile_values_[*outer.induction] = body.arguments.front();
    for (const ir::Carried& carried : carries) {
      TWILL_TRY(const ValueId first, want_scalar(carried.init));
      tile_values_[carried.argument] =
          carry(program.value(carried.argument).name, type_of(first), first);
    }
  } else {
    TWILL_TRY_VOID(test_tile(outer, node));
    for (const ir::Forwarded& it : outer.forwarded) {
      tile_values_[it.argument] =
          argument(program.value(it.argument).name, ir::type_of(program, it.argument));
    }
  }
  const auto carry_positions = [&](const std::set<int>& depths, const std::string& of, auto& to) {
    for (const int depth : depths) {
      to[depth].first = depth == 1 ? number(0) : carry(of + "slot", sketch_.i32(), number(0));
      to[depth].second = carry(of + "phase", sketch_.i32(), number(0));
    }
  };
  carry_positions(ring_depths, "", first_);
  carry_positions(tile_depths, "tile_", of_tile_);
  now_ = &before_;
  TWILL_TRY_VOID(tile());
  now_ = &behind_;
  for (const ir::Carried& carried : carries) {
    TWILL_TRY(body.yields.emplace_back(), want_scalar(carried.yielded));
  }
  TWILL_TRY_VOID(find_positions(ring_depths));
  const auto yield = [&](int depth, std::pair<ValueId, ValueId> position) {
    if (depth > 1) body.yields.push_back(position.first);
    body.yields.push_back(position.second);
  };
  for (const int depth : ring_depths) yield(depth, positions_.at(depth));
  for (const int depth : tile_depths) yield(depth, advanced(depth, of_tile_.at(depth)));
  for (Nodes* nodes : {&before_, &middle_, &behind_}) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(body.nodes));
    nodes->clear();
  }
  before_.push_back(std::move(node));
  return {};
}

}  // namespace twill::device
