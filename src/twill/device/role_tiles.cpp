#include <algorithm>
#include <iterator>

#include "twill/device/role_inside.h"

/// The text's own loop over tiles, in each role. Rings go on from tile to tile. So a role that
/// loads runs ahead into the next tile while others are at the end of this one.
namespace twill::device {

/// Slot and phase of iteration `iteration` of the tile at hand.
std::pair<ValueId, ValueId> RoleBuilder::position(int depth, int iteration) {
  if (!sketch_.walks()) return {number(iteration % depth), number(iteration / depth % 2)};
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

/// A scalar that a loop over tiles counts, carries or leaves.
RoleBuilder::Want RoleBuilder::of_tiles(ir::ValueId value, const ir::Loop& outer) {
  const auto known = tile_values_.find(value);
  if (known != tile_values_.end()) return known->second;
  const auto carried = std::find_if(
      outer.carried.begin(), outer.carried.end(),
      [&](const ir::Carried& it) { return it.argument == value || it.result == value; });
  if (carried == outer.carried.end()) {
    return sketch_.refuse(outer.op, "leaves a value that is wanted before it is there");
  }
  if (sketch_.depends(value) || is_tile(ir::type_of(sketch_.program(), carried->init))) {
    return sketch_.refuse(outer.op, "carries tiles from tile to tile");
  }
  by_tiles_.insert(carried->argument);
  return add_value("new", ir::type_of(sketch_.program(), value));
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

/// Does all tiles: one, or those of loops of the text's own.
Result<void> RoleBuilder::tiles(const std::function<Result<void>()>& tile) {
  return sketch_.walks() ? tiles_of(0, tile) : tile();
}

/// Does all tiles of the loop at that level, with what it carries and with slots and phases of the
/// rings.
Result<void> RoleBuilder::tiles_of(std::size_t level, const std::function<Result<void>()>& tile) {
  const ir::Loop& outer = sketch_.around()[level];
  const bool innermost = level + 1 == sketch_.around().size();
  const ir::Program& program = sketch_.program();
  const bool counts = outer.induction.has_value();
  std::vector<ir::Carried> carries;
  std::copy_if(outer.carried.begin(), outer.carried.end(), std::back_inserter(carries),
               [&](const ir::Carried& it) { return !counts || by_tiles_.contains(it.argument); });
  const std::set<int> ring_depths = ring_depths_, tile_depths = tile_depths_;
  now_ = &around_[level];
  Node node{counts ? NodeKind::loop : NodeKind::repeat};
  node.blocks.resize(counts ? 1 : 2);
  Block &test = node.blocks.front(), &body = node.blocks.back();
  std::vector<std::pair<ir::ValueId, ValueId>> left;  // what the loop leaves
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
      if (carried.result) left.emplace_back(*carried.result, node.results.back());
    }
  } else {
    TWILL_TRY_VOID(test_tile(outer, node));
    for (const ir::Forwarded& it : outer.forwarded) {
      tile_values_[it.argument] =
          argument(program.value(it.argument).name, ir::type_of(program, it.argument));
      left.emplace_back(it.result, node.results.back());
    }
  }
  // Slots and phases go on from the last tile in front of this loop.
  const auto carry_positions = [&](const std::set<int>& depths, const std::string& of, auto& at,
                                   auto& later) {
    for (const int depth : depths) {
      auto& [slot, phase] = at[depth];
      const auto go_on = [&](const char* name, ValueId& now, ValueId& then) {
        now = carry(of + name, sketch_.i32(), level == 0 ? number(0) : now);
        then = node.results.back();
      };
      if (depth == 1) {
        slot = later[depth].first = number(0);
      } else {
        go_on("slot", slot, later[depth].first);
      }
      go_on("phase", phase, later[depth].second);
    }
  };
  std::map<int, std::pair<ValueId, ValueId>> first_later, tile_later;
  carry_positions(ring_depths, "", first_, first_later);
  carry_positions(tile_depths, "tile_", of_tile_, tile_later);
  if (innermost) {
    now_ = &before_;
    TWILL_TRY_VOID(tile());
    now_ = &behind_;
  } else {
    TWILL_TRY_VOID(tiles_of(level + 1, tile));
    now_ = &around_[level + 1];
  }
  for (const ir::Carried& carried : carries) {
    TWILL_TRY(body.yields.emplace_back(), want_scalar(carried.yielded));
  }
  if (innermost) {
    TWILL_TRY_VOID(find_positions(ring_depths));
    for (const int depth : ring_depths) first_[depth] = positions_.at(depth);
    for (const int depth : tile_depths) of_tile_[depth] = advanced(depth, of_tile_.at(depth));
  }
  const auto yield = [&](const std::set<int>& depths, const auto& positions) {
    for (const int depth : depths) {
      if (depth > 1) body.yields.push_back(positions.at(depth).first);
      body.yields.push_back(positions.at(depth).second);
    }
  };
  yield(ring_depths, first_);
  yield(tile_depths, of_tile_);
  std::vector<Nodes*> lists = {&before_, &middle_, &behind_};
  if (!innermost) lists = {&around_[level + 1]};
  for (Nodes* nodes : lists) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(body.nodes));
    nodes->clear();
  }
  first_ = std::move(first_later);
  of_tile_ = std::move(tile_later);
  for (const auto& [value, result] : left) tile_values_[value] = result;
  around_[level].push_back(std::move(node));
  return {};
}

}  // namespace twill::device
