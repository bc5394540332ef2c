#include <iterator>

#include "twill/device/role.h"

/// The text's own loop over tiles, in each role. Rings go on from tile to tile. So a role that
/// loads runs ahead into the next tile while others are at the end of this one.
namespace twill::device {

/// A scalar that the loop over tiles carries.
RoleBuilder::Want RoleBuilder::carried_by_tiles(const ir::Carried& carried) {
  if (sketch_.depends(carried.argument) || is_tile(ir::type_of(program_, carried.init))) {
    return sketch_.refuse(sketch_.outer()->op, "carries tiles from tile to tile");
  }
  by_tiles_.push_back(carried);
  grew_ = true;
  return add_value("new", ir::type_of(program_, carried.argument));
}

/// The part of a `while` loop over tiles that says whether it goes on. All that such a loop carries
/// are scalars, which every role has.
Result<void> RoleBuilder::test_tile(const ir::Loop& outer, Node& node) {
  Block& test = node.blocks.front();
  for (const ir::Carried& carried : outer.carried) {
    if (sketch_.depends(carried.argument) || is_tile(ir::type_of(program_, carried.init))) {
      return sketch_.refuse(outer.op, "carries tiles from tile to tile");
    }
    TWILL_TRY(const ValueId first, want_scalar(carried.init));
    node.operands.push_back(first);
    test.arguments.push_back(add_value(program_.value(carried.argument).name, type_of(first)));
  }
  const Inside inside(*this, outer.op, test.nodes);
  for (std::size_t i = 0; i < outer.carried.size(); ++i) {
    made_[{outer.carried[i].argument, kRegion}] = test.arguments[i];
  }
  const ir::OpId end = *ir::terminator(program_, *outer.before);
  TWILL_TRY(test.yields.emplace_back(), want_scalar(program_.op(end).operands.front()));
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
  const bool counts = outer.induction.has_value();
  const std::vector<ir::Carried> carries = counts ? by_tiles_ : outer.carried;
  const std::set<int> ring_depths = ring_depths_, tile_depths = tile_depths_;
  now_ = &once_;
  Node node{counts ? NodeKind::loop : NodeKind::repeat};
  node.blocks.resize(counts ? 1 : 2);
  Block& body = node.blocks.back();
  if (counts) {
    for (const ir::ValueId bound : {*outer.lower, *outer.upper, *outer.step}) {
      TWILL_TRY(node.operands.emplace_back(), want_scalar(bound));
    }
    body.arguments.push_back(add_value("tile", ir::type_of(program_, *outer.induction)));
    made_[{*outer.induction}] = body.arguments.front();
    for (const ir::Carried& carried : carries) {
      TWILL_TRY(const ValueId first, want_scalar(carried.init));
      made_[{carried.argument}] =
          carry(node, program_.value(carried.argument).name, type_of(first), first);
    }
  } else {
    TWILL_TRY_VOID(test_tile(outer, node));
    for (const ir::Forwarded& it : outer.forwarded) {
      const std::string& name = program_.value(it.argument).name;
      node.results.push_back(add_value(name, ir::type_of(program_, it.argument)));
      body.arguments.push_back(add_value(name, ir::type_of(program_, it.argument)));
      made_[{it.argument}] = body.arguments.back();
    }
  }
  carry_positions(ring_depths, {At::From::start}, "", node);
  carry_positions(tile_depths, {At::From::tile}, "tile_", node);
  now_ = &before_;
  TWILL_TRY_VOID(tile());
  now_ = &behind_;
  for (const ir::Carried& carried : carries) {
    TWILL_TRY(body.yields.emplace_back(), want_scalar(carried.yielded));
  }
  TWILL_TRY_VOID(find_positions(ring_depths));
  for (const int depth : ring_depths) yield_position(depth, *standing(depth, kBeside), body);
  for (const int depth : tile_depths) {
    yield_position(depth, advanced(depth, *standing(depth, {At::From::tile})), body);
  }
  for (Nodes* nodes : {&before_, &middle_, &behind_}) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(body.nodes));
    nodes->clear();
  }
  before_.push_back(std::move(node));
  return {};
}

}  // namespace twill::device
