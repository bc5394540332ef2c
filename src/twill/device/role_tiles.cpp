#include <algorithm>
#include <iterator>

#include "twill/device/role.h"

/// The text's own loop over tiles, in each role. Rings go on from tile to tile. So a role that
/// loads runs ahead into the next tile while others are at the end of this one.
namespace twill::device {

/// A scalar that a loop over tiles counts, carries or returns, or rows of a tile that the loop
/// carries or returns.
RoleBuilder::Want RoleBuilder::of_tiles(ir::ValueId value, const ir::Loop& outer, Rows rows,
                                        ir::Type type) {
  const auto known = made_.find({{value, rows}});
  if (known != made_.end()) return relayout(known->second, type);
  const ir::Carried* const carried = sketch_.carried_around(value);
  if (carried == nullptr) {
    return sketch_.refuse(outer.op, "leaves a value that is wanted before it is there");
  }
  grew_ |= by_tiles_.emplace(carried->argument, rows).second;
  TWILL_TRY(const ir::Type own, own_type(carried->argument, rows));
  return relayout(add_value("new", own), type);
}

/// Values that a loop over tiles carries in the role: a counting loop only values that the role
/// wants.
Result<std::vector<RoleBuilder::Passed>> RoleBuilder::passed_by_tiles(const ir::Loop& outer) {
  std::vector<Passed> passed;
  for (const ir::Carried& it : outer.carried) {
    if (!outer.induction) {
      passed.push_back({it, {}, ir::type_of(program_, it.argument)});
      continue;
    }
    for (const auto& [argument, rows] : by_tiles_) {
      if (argument != it.argument) continue;
      TWILL_TRY(const ir::Type type, own_type(argument, rows));
      passed.push_back({it, rows, type});
    }
  }
  return passed;
}

/// Does all tiles of the loop at that level. The loop carries its own values, and slots and phases
/// of the rings.
Result<void> RoleBuilder::tiles_of(std::size_t level) {
  const ir::Loop& outer = sketch_.around()[level];
  const bool innermost = level + 1 == sketch_.around().size();
  TWILL_TRY(const std::vector<Passed> passed, passed_by_tiles(outer));
  const std::vector<Thing> rings = positions(ring_depths_), boxes = positions(tile_depths_);
  now_ = &around_[level];
  TWILL_TRY(Node node, begin_loop(outer, passed, "tile", {}, false));
  Block& body = node.blocks.back();
  enter_body(outer, passed, body, {});
  // Slots and phases go on from the last tile in front of this loop.
  const At start{At::From::start}, of_tile{At::From::tile};
  auto behind = carry_positions(rings, start, "", node);
  behind.merge(carry_positions(boxes, of_tile, "tile_", node));
  if (innermost) {
    TWILL_TRY_VOID(tile());
    now_ = &behind_;
  } else {
    TWILL_TRY_VOID(tiles_of(level + 1));
    now_ = &around_[level + 1];
  }
  TWILL_TRY_VOID(yield(passed, {}, body));
  if (innermost) {
    TWILL_TRY_VOID(find_positions(rings));
    for (const Thing& thing : rings) made_[{thing, start}] = made_.at({thing, kBeside});
  }
  yield_positions(rings, start, false, body);
  yield_positions(boxes, of_tile, innermost, body);
  std::vector<Nodes*> lists = {&before_, &middle_, &behind_};
  if (!innermost) lists = {&around_[level + 1]};
  for (Nodes* nodes : lists) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(body.nodes));
    nodes->clear();
  }
  for (const auto& [key, value] : behind) made_[key] = value;
  enter_results(outer, passed, node.results, {});
  around_[level].push_back(std::move(node));
  return {};
}

}  // namespace twill::device
